#include <roost/base/detail/json_text.hpp>

#include <gtest/gtest.h>

namespace {

using roost::detail::utf8_length;

std::string json_of(std::string_view text) {
    std::string out;
    roost::detail::append_json_string(out, text);
    return out;
}

TEST(json_text, OBS_109_special_characters_are_escaped) {
    EXPECT_EQ(json_of(""), "\"\"");
    EXPECT_EQ(json_of("a\"b\\c\n\r\t\x01\x7f/"), "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f/\"");
    EXPECT_EQ(json_of(std::string_view("a\0b", 3)), "\"a\\u0000b\"");
}

TEST(json_text, OBS_109_valid_utf8_stays_and_the_rest_is_replaced) {
    EXPECT_EQ(json_of("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x93"),
              "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x93\"");
    EXPECT_EQ(json_of("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    EXPECT_EQ(json_of("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(json_text, OBS_109_only_the_shortest_form_of_a_character_is_valid) {
    EXPECT_EQ(utf8_length(""), 0U);
    EXPECT_EQ(utf8_length("a"), 1U);
    EXPECT_EQ(utf8_length("\xc2\x80"), 2U);
    EXPECT_EQ(utf8_length("\xc1\xbf"), 0U) << "overlong";
    EXPECT_EQ(utf8_length("\xe0\x9f\xbf"), 0U) << "overlong";
    EXPECT_EQ(utf8_length("\xe0\xa0\x80"), 3U);
    EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0U) << "a surrogate";
    EXPECT_EQ(utf8_length("\xf0\x8f\xbf\xbf"), 0U) << "overlong";
    EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4U);
    EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0U) << "beyond the last character";
    EXPECT_EQ(utf8_length("\x80"), 0U);
}

}  // namespace
