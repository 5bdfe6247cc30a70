#include <roost/base/time_limit.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace roost;
using namespace std::chrono_literals;

time_point at(time_limit limit) { return limit; }

TEST(time_limit, BASE_57_takes_deadlines_durations_and_steady_times) {
    EXPECT_EQ(at(time_point(5ns)), time_point(5ns));
    EXPECT_EQ(at(no_deadline), no_deadline);
    const time_point before = now();
    const time_point soon = at(1h);
    EXPECT_GE(soon, before + 1h);
    EXPECT_LE(soon, now() + 1h);
    EXPECT_EQ(at(std::chrono::hours::max()), no_deadline);
    const std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds> steady(7ms);
    EXPECT_EQ(at(steady), time_point(7ms));
}

}  // namespace
