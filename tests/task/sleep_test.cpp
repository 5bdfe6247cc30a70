#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<> nap(duration d, int& woken) {
    co_await sleep_for(d);
    ++woken;
}
task<> nap_until(time_point t, int& woken) {
    co_await sleep_until(t);
    ++woken;
}

TEST(sleep, TASK_18_wakes_when_the_time_has_come_not_before) {
    rig::stage s;
    int woken = 0;
    s.play(nap(50ms, woken));
    s.advance(49ms);
    EXPECT_EQ(woken, 0);
    s.advance(1ms);
    EXPECT_EQ(woken, 1);
}

TEST(sleep, TASK_18_a_deadline_in_the_past_does_not_suspend) {
    rig::stage s;
    int woken = 0;
    s.start(nap(0ms, woken));
    s.start(nap(-5s, woken));
    s.start(nap(duration::min(), woken));
    s.start(nap_until(s.executor.clock().now(), woken));
    for (int i = 1; i <= 4; ++i) {
        EXPECT_TRUE(s.executor.run_one());
        EXPECT_EQ(woken, i);
    }
    EXPECT_EQ(s.executor.clock().armed(), 0U);
}

TEST(sleep, TASK_18_cancelling_ends_it_at_once_and_disarms_the_timer) {
    rig::stage s;
    int woken = 0;
    const job j = s.play(nap(1h, woken));
    const job forever = s.play(nap(duration::max(), woken));
    EXPECT_EQ(s.executor.clock().armed(), 2U);
    j.cancel();
    forever.cancel();
    EXPECT_EQ(s.executor.clock().armed(), 0U);
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(forever.state(), job_state::cancelled);
    EXPECT_EQ(woken, 0);
}

TEST(sleep, TASK_18_fired_and_then_cancelled_it_has_slept) {
    rig::stage s;
    int woken = 0;
    const job j = s.play(nap(5ms, woken));
    s.executor.clock().advance(5ms);
    j.cancel();
    s.run();
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(sleep, TASK_18_when_the_timers_are_closed_the_sleeper_ends_cancelled) {
    rig::stage s;
    int woken = 0;
    s.executor.clock().closed = true;
    const job j = s.play(nap(5ms, woken));
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::closed);
}

TEST(sleep_death, TASK_18_an_executor_without_timers_is_named) {
    EXPECT_DEATH(
        {
            roost::testing::manual_executor bare("bare");
            owned_scope root(bare, scope_options("root").report_failures());
            int woken = 0;
            root.launch("sleeper", nap(1ms, woken));
            bare.run_all();
        },
        "bare.*has no timers");
}

}  // namespace
