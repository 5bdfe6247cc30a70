#include <roost/exec/detail/recent_time.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using roost::detail::recent_time;

// The first test: until now no thread has published the time.
TEST(recent_time, JOB_123_an_age_is_known_before_any_thread_publishes_the_time) {
    const time_point before = now();
    const auto age = recent_time::age(recent_time::stamp(), before);
    ASSERT_TRUE(age.has_value());
    EXPECT_LE(*age, 1s);
}

TEST(recent_time, JOB_51_ages_are_about_right) {
    const time_point t(std::chrono::hours(1));
    recent_time::tell(t);
    const std::uint32_t stamp = recent_time::stamp();
    EXPECT_LE(*recent_time::age(stamp, t), 2ms);
    const duration age = *recent_time::age(stamp, t + 5s);
    EXPECT_GE(age, 4990ms);
    EXPECT_LE(age, 5010ms);
    EXPECT_EQ(*recent_time::age(stamp, t - 5s), duration(0));
    EXPECT_FALSE(recent_time::age(0, t).has_value());
    recent_time::rest();  // the clock is read
    const time_point before = now();
    const std::uint32_t read = recent_time::stamp();
    EXPECT_LE(*recent_time::age(read, before), 50ms) << "not older than the reading before it";
    EXPECT_GE(*recent_time::age(read, now() + 5s), 4950ms) << "and not from the future";
}

TEST(recent_time, JOB_51_ages_are_right_for_weeks) {
    const time_point t(std::chrono::hours(1));
    recent_time::tell(t);
    const std::uint32_t stamp = recent_time::stamp();
    const auto days = std::chrono::hours(24);
    for (const int n : {20, 26, 30, 45, 51}) {
        EXPECT_NEAR(static_cast<double>(recent_time::age(stamp, t + n * days)->count()),
                    static_cast<double>(duration(n * days).count()), 1e7)
            << n << " days";
    }
    EXPECT_EQ(*recent_time::age(stamp, t - 10min), duration(0)) << "stamps of other threads may lead a little";
    recent_time::rest();
}

}  // namespace
