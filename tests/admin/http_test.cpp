#include <roost/admin/http.hpp>

#include <gtest/gtest.h>

namespace roost::admin {
namespace {

TEST(http, OBS_262_a_parameter_is_decoded) {
    const http_request from("/x", "a=1&b=x%20y+z&b=2&c&=d&e=%C3%A4");
    EXPECT_EQ(from.parameter("a"), "1");
    EXPECT_EQ(from.parameter("b"), "x y z");
    EXPECT_EQ(from.parameter("c"), "");
    EXPECT_EQ(from.parameter("e"), "\xc3\xa4");
    EXPECT_FALSE(from.parameter("d"));
    EXPECT_EQ(from.parameter(""), "d");
}

TEST(http, OBS_262_a_broken_encoding_is_no_value) {
    for (const char* query : {"a=%", "a=%4", "a=%zz", "a=x%4"}) {
        EXPECT_FALSE(http_request("/x", query).parameter("a")) << query;
    }
    EXPECT_FALSE(http_request("/x").parameter("a"));
}

TEST(http, OBS_262_a_field_is_found_without_regard_to_case) {
    const http_request from("/x", "", {{"Accept", "text/html"}, {"ACCEPT", "second"}});
    EXPECT_EQ(from.header("accept"), "text/html");
    EXPECT_EQ(from.header("accep"), "");
}

TEST(http, OBS_272_html_is_escaped) {
    EXPECT_EQ(escape_html("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
}

}  // namespace
}  // namespace roost::admin
