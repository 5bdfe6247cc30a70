#include <roost/sync/detail/lock_takers.hpp>

#include <roost/base/failure_sink.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace roost;

TEST(lock_takers, SYNC_192_remembers_the_last_taker) {
    int lock = 0;
    int a = 0;
    int b = 0;
    detail::note_lock_taker(&lock, &a);
    EXPECT_TRUE(detail::is_lock_taker(&lock, &a));
    EXPECT_FALSE(detail::is_lock_taker(&lock, &b));
    detail::note_lock_taker(&lock, &b);
    EXPECT_FALSE(detail::is_lock_taker(&lock, &a));
    detail::note_lock_taker(&lock, nullptr);
    EXPECT_FALSE(detail::is_lock_taker(&lock, &b));
    EXPECT_FALSE(detail::is_lock_taker(&lock, nullptr));
}

TEST(lock_takers, SYNC_192_the_report_names_lock_and_job) {
    ::testing::internal::CaptureStderr();
    detail::report_locked_twice("mutex", "accounts", "transfer");
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("roost: mutex 'accounts': job 'transfer' waits for it and is the job that locked it"),
              std::string::npos)
        << text;
}

}  // namespace
