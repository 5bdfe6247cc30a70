#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

using roost::shutdown;
using namespace std::chrono_literals;

TEST(wait_limit, SHUT_112_threads_may_say_durations_and_steady_times) {
    const shutdown s("s");
    const auto g = s.guard();
    auto done = s.shut_down();
    EXPECT_FALSE(done.wait_blocking(1ms));
    EXPECT_FALSE(done.wait_blocking(std::chrono::duration<double>(0.001)));
    EXPECT_FALSE(done.wait_blocking(std::chrono::steady_clock::now() + 1ms));
    EXPECT_FALSE(done.wait_blocking(roost::now()));
    EXPECT_TRUE(s.shutting_down().wait_blocking(1h));
    EXPECT_TRUE(s.shutting_down().wait_blocking(std::chrono::steady_clock::time_point::max())) << "far away, not wrapped";
}

TEST(wait_limit, SHUT_112_also_when_the_handle_is_given_up) {
    shutdown s("s");
    EXPECT_TRUE(std::move(s).wait_blocking(1h));
}

}  // namespace
