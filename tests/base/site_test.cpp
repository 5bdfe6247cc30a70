#include <roost/base/site.hpp>

#include <gtest/gtest.h>

#include <type_traits>

static_assert(sizeof(roost::site) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<roost::site>);

namespace {

roost::site made_here() { return roost::site::here(); }

TEST(site, BASE_1_prints_file_and_line) {
    const roost::site s = roost::site::here();
    EXPECT_TRUE(s.is_known());
    EXPECT_NE(s.to_string().find("site_test.cpp:" + std::to_string(s.line())), std::string::npos);
}

TEST(site, BASE_1_unknown_when_nothing_was_recorded) {
    const roost::site s;
    EXPECT_FALSE(s.is_known());
    EXPECT_EQ(s.to_string(), "unknown site");
}

TEST(site, BASE_1_equal_when_the_same_place) {
    EXPECT_TRUE(made_here() == made_here());
    EXPECT_FALSE(made_here() == roost::site::here());
}

TEST(site, BASE_50_shows_no_directories_of_the_machine_that_built_it) {
    const roost::site s = roost::site::here();
    const std::string text = s.to_string();
    if (s.file()[0] == '/') {
        EXPECT_EQ(text, "site_test.cpp:" + std::to_string(s.line()));
    } else {
        EXPECT_EQ(text, std::string(s.file()) + ":" + std::to_string(s.line())) << "a relative path says something";
    }
}

}  // namespace
