#include <roost/base/detail/subject_text.hpp>

#include <gtest/gtest.h>

namespace {

std::string subject(std::string_view kind, std::string_view name, roost::site made_at) {
    std::string out;
    roost::detail::append_subject(out, kind, name, made_at);
    return out;
}

TEST(subject_text, OBS_3_kind_name_and_site) {
    const roost::site here = roost::site::here();
    EXPECT_EQ(subject("job", "request", here), "job 'request' (" + here.to_string() + ")");
    EXPECT_EQ(subject("job", "request", roost::site()), "job 'request'");
    EXPECT_EQ(subject("a blocking function", "", here), "a blocking function (" + here.to_string() + ")");
    EXPECT_EQ(subject("pooled", "", roost::site()), "pooled");
}

}  // namespace
