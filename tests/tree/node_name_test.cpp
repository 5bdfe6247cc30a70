#include <roost/tree/node_name.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using roost::literal;
using roost::node_name;

TEST(node_name, TREE_130_a_literal_is_recognised_at_compile_time) {
    constexpr node_name name = "requests";
    EXPECT_TRUE(name.is_literal());
    EXPECT_EQ(name.text(), "requests");
    EXPECT_TRUE(node_name(literal("requests")).is_literal());
}

TEST(node_name, TREE_130_any_other_text_is_not_a_literal) {
    const std::string text = "connection 7";
    EXPECT_FALSE(node_name(text).is_literal());
    EXPECT_EQ(node_name(text).text(), text);
    char buffer[] = "in a buffer";
    EXPECT_FALSE(node_name(buffer).is_literal());
    EXPECT_EQ(node_name(buffer).text(), "in a buffer");
}

}  // namespace
