#include <roost/service/detail/wake_fd.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

namespace roost::service::detail {
namespace {

TEST(wake_fd, SVC_10_a_ring_before_or_during_a_sleep_ends_it) {
    wake_fd bell;
    bell.ring();
    bell.ring();
    bell.sleep_until(no_deadline);
    thread other([&bell] { bell.ring(); });
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

TEST(wake_fd, SVC_10_no_descriptors_left_is_an_exception) {
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
    rlimit none = old;
    none.rlim_cur = 0;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_THROW(wake_fd(), std::system_error);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
}

}  // namespace
}  // namespace roost::service::detail
