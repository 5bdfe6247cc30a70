#include <roost/base/literal.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using roost::literal;

static_assert(std::is_trivially_copyable_v<literal> && sizeof(literal) == sizeof(void*));
static_assert(!std::is_constructible_v<literal, const char*> && !std::is_constructible_v<literal, std::string>);
static_assert(!std::is_constructible_v<literal, char (&)[4]>, "a buffer changes");

constexpr char constant[] = "constant";
const char at_static[] = "static";

TEST(literal, BASE_51_is_made_of_what_lives_as_long_as_the_program) {
    EXPECT_STREQ(literal("direct").text(), "direct");
    EXPECT_EQ(literal(constant).text(), constant);
    EXPECT_EQ(literal(at_static).text(), at_static);
}

TEST(literal, BASE_51_the_caller_may_vouch_for_other_text) {
    const std::string kept = "kept by the caller";
    EXPECT_EQ(literal::unchecked(kept.c_str()).text(), kept.c_str());
}

}  // namespace
