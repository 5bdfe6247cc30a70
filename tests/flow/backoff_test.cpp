#include <roost/flow/backoff.hpp>

#include <gtest/gtest.h>

using namespace roost;
using namespace std::chrono_literals;

namespace {

TEST(backoff, JOB_36_grows_to_its_limit_and_spreads) {
    const backoff b = backoff(10ms).factor(3).longest(50ms);
    EXPECT_EQ(b.delay(1), 10ms);
    EXPECT_EQ(b.delay(2), 30ms);
    EXPECT_EQ(b.delay(3), 50ms);
    EXPECT_EQ(b.delay(1000000), 50ms);
    const backoff spread = backoff(10ms).jitter(0.5);
    for (int i = 0; i < 1000; ++i) {
        const duration d = spread.next(1);
        EXPECT_GE(d, 5ms);
        EXPECT_LE(d, 10ms);
    }
    EXPECT_EQ(backoff().next(7), duration::zero());
}

TEST(backoff, JOB_122_a_delay_takes_no_longer_to_compute_for_a_late_attempt) {
    const std::uint32_t late = 4'000'000'000;
    EXPECT_EQ(backoff(10ms).factor(1).longest(50ms).delay(late), 10ms);
    EXPECT_EQ(backoff(10ms).factor(0.5).delay(late), duration::zero());
    EXPECT_EQ(backoff(10ms).factor(2).longest(50ms).delay(late), 50ms);
    EXPECT_EQ(backoff(duration::zero()).factor(2).delay(late), duration::zero());
    const backoff slow = backoff(1ms).factor(1.5).longest(1h);
    for (std::uint32_t n = 1; n < 30; ++n) {
        const double grown = static_cast<double>(slow.delay(n).count()) * 1.5;
        EXPECT_NEAR(static_cast<double>(slow.delay(n + 1).count()), grown, grown * 1e-9 + 2);
    }
}

}  // namespace
