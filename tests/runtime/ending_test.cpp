// A runtime that ends while something is still going to happen on it.
#include <roost/observe/dump.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/testing/manual_executor.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;

class ending_of : public ::testing::TestWithParam<unsigned> {
protected:
    runtime_options options() const { return runtime_options().workers(GetParam()).name("mill"); }
};

// Until the job is suspended there: a body that has begun may still be on its way.
void wait_until_suspended(const job& j, const char* at) {
    while (dump(j).find(std::string("waits on ") + at) == std::string::npos) {
        yield_thread();
    }
}

void compute(duration d) {
    for (const time_point until = deadline_after(now(), d); now() < until;) {}
}

// One of them ends it, the others wait for that.
TEST_P(ending_of, RUN_153_several_threads_may_end_it_at_once) {
    for (int round = 0; round < 20; ++round) {
        runtime rt(options());
        atomic<int> ran{0};
        call c([&] { ran.fetch_add(1, mo::acq_rel); });
        EXPECT_TRUE(rt.post(c));
        std::vector<thread> enders;
        for (int i = 0; i < 4; ++i) {
            enders.emplace_back([&] {
                static_cast<void>(rt.shut_down());
                EXPECT_EQ(ran.load(mo::acquire), 1) << "ended for every caller";
            });
        }
        for (thread& t : enders) {
            t.join();
        }
    }
}

// It comes due while the runtime waits for a body: what it would post could not be taken any more.
TEST_P(ending_of, RUN_120_a_timer_that_comes_due_meanwhile_is_left) {
    for (int round = 0; round < 5; ++round) {
        runtime rt(options());
        countdown started(1);
        int woken = 0;
        call wake([&] { ++woken; });
        test_timer soon([&] { post_or_fall_back(rt, wake, "a timer"); });
        call busy([&] {
            started.down();
            compute(20ms);
        });
        EXPECT_TRUE(rt.post(busy));
        started.wait();
        soon.set_deadline(deadline_after(now(), 4ms));
        EXPECT_TRUE(rt.timers().arm(soon));
        const std::size_t left = rt.shut_down().timers_left();
        EXPECT_EQ(left + static_cast<std::size_t>(soon.count), 1U) << "it is counted, or it fired before";
        EXPECT_EQ(woken, soon.count) << "and what it posted has run";
    }
}

// Firing all the time while the end comes: a timer that has fired did so before the end.
TEST_P(ending_of, RUN_120_a_timer_that_fires_as_the_end_comes_is_waited_for) {
    for (int round = 0; round < 100; ++round) {
        runtime rt(options());
        int woken = 0;
        call wake([&] { ++woken; });
        test_timer soon([&] { post_or_fall_back(rt, wake, "a timer"); });
        soon.set_deadline(deadline_after(now(), std::chrono::microseconds(10 * round)));
        EXPECT_TRUE(rt.timers().arm(soon));
        compute(std::chrono::microseconds(500));
        const std::size_t left = rt.shut_down().timers_left();
        EXPECT_EQ(left + static_cast<std::size_t>(soon.count), 1U);
        EXPECT_EQ(woken, soon.count);
    }
}

task<> sleep_once(event& begun, duration d) {
    begun.set();
    co_await sleep_for(d);
}

// Its body runs until the timers are closed, then it sleeps.
task<> sleep_after_close(runtime& rt, event& begun) {
    begun.set();
    test_timer probe;
    probe.set_deadline(deadline_after(now(), 1h));
    while (rt.timers().arm(probe)) {
        static_cast<void>(rt.timers().disarm(probe));
        yield_thread();
    }
    co_await sleep_for(1ms);
}

TEST_P(ending_of, RUN_120_a_sleep_that_begins_meanwhile_ends_closed) {
    runtime rt(options());
    owned_scope root(rt, scope_options("root").report_failures());
    event begun;
    const job late = root.launch("late", sleep_after_close(rt, begun));
    begun.wait_blocking();
    EXPECT_LE(rt.shut_down().timers_left(), 1U) << "the probe, if the close found it armed";
    EXPECT_EQ(late.state(), job_state::cancelled);
    EXPECT_EQ(late.why().kind(), reason_kind::closed);
    root.close_blocking();
}

// The runtime is gone, its jobs are not: they are reported by number, and end on the fallback.
TEST_P(ending_of, RUN_122_sleepers_that_are_left_are_counted_and_can_be_ended) {
    roost::testing::manual_executor spare("spare");
    const executor_ref before = set_fallback_executor(spare);
    {
        std::optional<runtime> rt(std::in_place, options());
        owned_scope root(*rt, scope_options("root").report_failures());
        event begun;
        std::vector<job> sleepers;
        for (int i = 0; i < 3; ++i) {
            sleepers.push_back(root.launch("sleeper", sleep_once(begun, 1h)));
            wait_until_suspended(sleepers.back(), "sleep");
        }
        EXPECT_EQ(rt->shut_down().timers_left(), 3U);
        for (const job& j : sleepers) {
            EXPECT_FALSE(j.is_finished()) << "nothing has woken it";
        }
        root.request_close();
        root.cancel();
        spare.run_all();
        root.close_blocking();
        for (const job& j : sleepers) {
            EXPECT_EQ(j.state(), job_state::cancelled);
            EXPECT_EQ(j.why().kind(), reason_kind::requested);
        }
    }
    set_fallback_executor(before);
}

task<> wait_for(event& e, int& after) {
    co_await e.wait();
    ++after;
}

TEST_P(ending_of, RUN_122_waiters_that_are_left_go_on_on_the_fallback) {
    roost::testing::manual_executor spare("spare");
    const executor_ref before = set_fallback_executor(spare);
    {
        std::optional<runtime> rt(std::in_place, options());
        owned_scope root(*rt, scope_options("root").report_failures());
        event e;
        int after = 0;
        const job waiter = root.launch("waiter", wait_for(e, after));
        wait_until_suspended(waiter, "event");
        EXPECT_EQ(rt->shut_down().timers_left(), 0U);
        EXPECT_EQ(e.waiters_now(), 1U);
        e.set();
        spare.run_all();
        EXPECT_EQ(after, 1);
        EXPECT_EQ(waiter.state(), job_state::completed);
        root.close_blocking();
    }
    set_fallback_executor(before);
}

INSTANTIATE_TEST_SUITE_P(workers, ending_of, ::testing::Values(1U, 2U, 4U));

class ending_death : public ending_of {
protected:
    void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_P(ending_death, RUN_122_without_a_fallback_a_lost_wake_is_named) {
    EXPECT_DEATH(
        {
            runtime rt(options());
            owned_scope root(rt, scope_options("root").report_failures());
            event e;
            int after = 0;
            wait_until_suspended(root.launch("waiter", wait_for(e, after)), "event");
            rt.shut_down();
            e.set();
        },
        "mill.*closed and took no more work.*a wake would be lost");
}

TEST_P(ending_death, RUN_122_a_scope_whose_jobs_were_left_is_named) {
    EXPECT_DEATH(
        {
            runtime rt(options());
            owned_scope root(rt, scope_options("requests").report_failures());
            event begun;
            wait_until_suspended(root.launch("sleeper", sleep_once(begun, 1h)), "sleep");
            rt.shut_down();
        },
        "owned scope 'requests' .*ending_test.cpp:.*destroyed before a close.. had completed");
}

detached end_from_lane(executor_ref, runtime& rt) {
    auto end = [&rt] { rt.shut_down(); };
    co_await blocking(end);
}

TEST_P(ending_death, RUN_121_a_thread_of_the_blocking_lane_cannot_end_its_runtime) {
    EXPECT_DEATH(
        {
            runtime rt(options());
            end_from_lane(rt, rt);
            countdown(1).wait();
        },
        "runtime 'mill' .*ending_test.cpp:.*a thread of the blocking lane cannot wait for its own runtime to end");
}

struct closes_its_lane : blocking_work {
    explicit closes_its_lane(blocking_lane& l)
        : blocking_work(+[](work& w) noexcept { static_cast<closes_its_lane&>(w).of.close(); }), of(l) {}
    blocking_lane& of;
};

TEST_P(ending_death, RUN_121_a_lane_cannot_be_closed_by_its_own_thread) {
    EXPECT_DEATH(
        {
            blocking_lane lane(1, "files");
            closes_its_lane w(lane);
            lane.submit(w);
            countdown(1).wait();
        },
        "blocking lane 'files'.*a thread of the lane cannot wait for its own lane to end");
}

TEST_P(ending_death, RUN_121_a_timer_cannot_end_its_runtime) {
    EXPECT_DEATH(
        {
            runtime rt(options());
            test_timer t([&] { rt.shut_down(); });
            t.set_deadline(now());
            rt.timers().arm(t);
            countdown(1).wait();
        },
        "runtime 'mill' .*cannot wait for its own runtime to end");
}

INSTANTIATE_TEST_SUITE_P(workers, ending_death, ::testing::Values(1U, 2U));

}  // namespace
