#include <roost/service/detail/wake_fd.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

namespace roost::service::detail {
namespace {

TEST(wake_fd, SVC_10_a_ring_before_or_during_a_sleep_ends_it) {
    wake_fd bell;
    bell.ring();
    bell.ring();
    bell.sleep_until(no_deadline);
    std::thread other([&bell] { bell.ring(); });
    bell.sleep_until(no_deadline);
    other.join();
}

TEST(wake_fd, SVC_10_a_sleep_ends_at_its_deadline) {
    const wake_fd bell;
    bell.sleep_until(time_point::min());
    const time_point until = now() + std::chrono::milliseconds(5);
    while (now() < until) {
        bell.sleep_until(until);
    }
}

TEST(wake_fd, SVC_10_ringing_keeps_errno) {
    const wake_fd bell;
    errno = 42;
    wake_fd::ring(-1);  // fails
    bell.ring();
    EXPECT_EQ(errno, 42);
}

}  // namespace
}  // namespace roost::service::detail
