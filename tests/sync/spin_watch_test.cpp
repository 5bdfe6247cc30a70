#include <roost/sync/detail/spin_watch.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

using roost::detail::after_failure;
using roost::detail::after_success;
using roost::detail::budget;
using roost::detail::spin_history;
using roost::detail::spin_least;
using roost::detail::spin_most;
using roost::detail::spin_probe_every;
using roost::detail::spin_watch;

static_assert(budget(spin_history{}) == spin_most, "a thread that knows nothing tries");
static_assert(after_success(spin_history{}) == spin_history{});
static_assert(budget(after_failure(spin_history{})) < spin_most);

// Counts the pauses until the watch says it is time to sleep.
long pauses_until_sleep(roost::time_point deadline = roost::no_deadline) {
    spin_watch spin(deadline);
    long pauses = 1;
    while (spin.pause(1)) {
        ++pauses;
    }
    return pauses;
}

void in_a_fresh_thread(void (*body)()) { std::thread(body).join(); }

// Waits that are always long cost little; every so often the full time is tried, and one success is enough to come back.
TEST(spin_watch, SYNC_26_failures_shrink_the_time_and_success_restores_it) {
    spin_history h;
    std::uint32_t full = 0;
    for (std::uint32_t i = 0; i < 10 * spin_probe_every; ++i) {
        full += budget(h) == spin_most ? 1 : 0;
        h = after_failure(h);
        EXPECT_GE(h.ready_to_spend, spin_least);
    }
    EXPECT_EQ(full, 10U + 1U) << "the first, and one in each run of failures";
    EXPECT_EQ(h.ready_to_spend, spin_least);
    int successes = 0;
    for (; budget(h) != spin_most; ++successes) {
        h = after_success(h);
    }
    EXPECT_LE(successes, 6);
    EXPECT_EQ(h.failures, 0U);
}

TEST(spin_watch, SYNC_26_spinning_ends) {
    in_a_fresh_thread([] {
        const roost::time_point start = roost::now();
        for (int i = 0; i < 100; ++i) {
            EXPECT_GT(pauses_until_sleep(), 0);
        }
        EXPECT_LT(roost::now() - start, std::chrono::seconds(10)) << "a hang limit, not a measurement";
    });
}

TEST(spin_watch, SYNC_26_not_past_the_deadline) {
    in_a_fresh_thread([] {
        EXPECT_LE(pauses_until_sleep(roost::time_point{} + roost::duration(1)), 32) << "the first look at the clock ends it";
    });
}

}  // namespace
