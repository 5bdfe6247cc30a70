#include <roost/task/backoff.hpp>

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

}  // namespace
