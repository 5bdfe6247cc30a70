#include <roost/base/error.hpp>

#include <gtest/gtest.h>

#include <set>

namespace {

TEST(error, BASE_4_every_code_has_its_own_message) {
    std::set<std::string> messages;
    for (int code = 1; code <= static_cast<int>(roost::errc::misused); ++code) {
        messages.insert(make_error_code(static_cast<roost::errc>(code)).message());
    }
    EXPECT_EQ(messages.size(), static_cast<std::size_t>(roost::errc::misused));
    EXPECT_EQ(messages.count("unknown roost error"), 0U);
    EXPECT_EQ(roost::ext::roost_category().message(4711), "unknown roost error");
}

TEST(error, BASE_4_timed_out_is_the_standard_condition) {
    EXPECT_TRUE(make_error_code(roost::errc::timed_out) == std::errc::timed_out);
    EXPECT_FALSE(make_error_code(roost::errc::closed) == std::errc::timed_out);
    EXPECT_TRUE(make_error_code(roost::errc::would_deadlock) == std::errc::resource_deadlock_would_occur);
}

TEST(error, BASE_4_carries_code_and_sentence) {
    const roost::error e(roost::errc::closed, "channel 'orders'");
    EXPECT_EQ(e.kind(), roost::errc::closed);
    EXPECT_TRUE(e.code() == roost::errc::closed);
    EXPECT_STREQ(e.what(), "channel 'orders': closed");
    EXPECT_EQ(roost::timed_out("acquire").kind(), roost::errc::timed_out);
    EXPECT_STREQ(roost::error(roost::errc::refused, "SIGKILL cannot be caught").what(), "SIGKILL cannot be caught: refused");
    EXPECT_STREQ(roost::error(roost::errc::would_deadlock, "job 'a' joins itself").what(), "job 'a' joins itself: deadlock");
}

}  // namespace
