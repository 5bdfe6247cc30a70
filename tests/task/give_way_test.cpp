// Awaits that are always ready: they look at the clock, end at a deadline, and let others run.
#include <roost/flow/select.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/give_way.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/virtual_time.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class foreign {
public:
    foreign() noexcept {}
    [[nodiscard]] bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
};

// Time passes at every step, and no timer can fire before the body lets go.
class passing {
public:
    explicit passing(rig::stage& s) : clock(&s.executor.clock()) {}
    void pass() {
        clock->skip(10us);
        ++rounds;
    }
    rig::hand_timers* clock;
    int rounds = 0;
    bool stop = false;
};

task<int> ready(int i) { co_return i; }
task<int> in_scope(scope&) { co_return 1; }
generator<int> numbers() {
    for (int i = 0;; ++i) {
        co_yield i;
    }
}

task<> checkpoints(passing& p) {
    for (; !p.stop; p.pass()) {
        co_await checkpoint();
    }
}
task<> asks(passing& p) {
    for (bool go = true; go && !p.stop; p.pass()) {
        go = co_await is_active();
    }
    co_await checkpoint();
}
task<> awaits_tasks(passing& p) {
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await ready(1));
    }
}
task<> locks(passing& p) {
    mutex m;
    for (; !p.stop; p.pass()) {
        const auto held = co_await m.lock();
    }
}
task<> sends_and_receives(passing& p) {
    channel<int> c(4);
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await c.send(1));
        static_cast<void>(co_await c.receive());
    }
}
task<> sleeps_for_nothing(passing& p) {
    for (; !p.stop; p.pass()) {
        co_await sleep_for(0s);
    }
}
task<> awaits_foreign(passing& p) {
    for (; !p.stop; p.pass()) {
        co_await foreign();
    }
}
task<> selects(passing& p) {
    event e("set", true);
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await select(e.wait(), e.wait()));
    }
}
task<> opens_scopes(passing& p) {
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await with_scope(in_scope));
    }
}
task<> takes_outcomes(passing& p) {
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await as_outcome(ready(1)));
    }
}
task<> limits(passing& p) {
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await move_on_after(1h, ready(1)));
    }
}
task<> limits_to_nothing(passing& p) {
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await move_on_after(0s, ready(1)));
    }
}
task<> generates(passing& p) {
    generator<int> all = numbers();
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await all.next());
    }
}
task<> forks(passing& p) {
    for (; !p.stop; p.pass()) {
        static_cast<void>(co_await when_all(ready(1), ready(2)));
    }
}
task<> yields(passing& p) {
    for (; !p.stop; p.pass()) {
        co_await yield();
    }
}

using loop_function = task<> (*)(passing&);
constexpr loop_function loops[] = {
    checkpoints, asks,         awaits_tasks,   locks,  sends_and_receives, sleeps_for_nothing, awaits_foreign,
    selects,     opens_scopes, takes_outcomes, limits, limits_to_nothing,  generates,          forks,
    yields};

class always_ready : public ::testing::TestWithParam<loop_function> {};
INSTANTIATE_TEST_SUITE_P(loops, always_ready, ::testing::ValuesIn(loops));

task<> limited(loop_function loop, passing& p, std::string& log) {
    const bool in_time = co_await move_on_after(20ms, loop(p));
    log += in_time ? "value" : "late";
}

TEST_P(always_ready, JOB_120_a_limit_ends_a_loop_of_them_within_two_milliseconds_though_no_timer_fires) {
    rig::stage s;
    passing p(s);
    std::string log;
    s.start(limited(GetParam(), p, log));
    s.run();
    EXPECT_EQ(log, "late");
    EXPECT_GE(p.rounds, 2000 - 1) << "never early";
    EXPECT_LE(p.rounds, 2200);
}

task<> child_of(scope& s, loop_function loop, passing& p) {
    s.launch("loop", loop(p));
    co_return;
}
task<> scope_of(loop_function loop, passing& p) { co_await with_scope(child_of, loop, std::ref(p)); }
task<> limited_children(loop_function loop, passing& p, std::string& log) {
    const bool in_time = co_await move_on_after(20ms, scope_of(loop, p));
    log += in_time ? "value" : "late";
}

TEST_P(always_ready, JOB_120_also_a_limit_that_another_job_has_set) {
    rig::stage s;
    passing p(s);
    std::string log;
    s.start(limited_children(GetParam(), p, log));
    s.run();
    EXPECT_EQ(log, "late");
    EXPECT_LE(p.rounds, 2200);
}

task<> other(passing& p, int& others) {
    ++others;
    p.stop = true;
    co_return;
}

TEST_P(always_ready, TASK_121_a_body_that_never_waits_lets_others_run_after_a_millisecond) {
    rig::stage s;
    passing p(s);
    int others = 0;
    const job j = s.start(GetParam()(p));
    s.start(other(p, others));
    s.run();
    EXPECT_EQ(others, 1);
    EXPECT_LE(p.rounds, 150) << "of ten microseconds";
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST_P(always_ready, TASK_122_a_cancel_reaches_a_body_that_has_given_way) {
    rig::stage s;
    passing p(s);
    const job j = s.start(GetParam()(p));
    while (p.rounds < 100) {
        ASSERT_TRUE(s.executor.run_one());
    }
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// An executor without timers has no clock to look at: nothing is ever posted.
TEST(give_way, TASK_121_on_an_executor_without_timers_a_body_goes_on) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    rig::stage s;
    passing p(s);
    const auto counts = [](passing& q) -> task<> {
        for (; q.rounds < 1000; q.pass()) {
            co_await checkpoint();
        }
    };
    root.launch("counts", counts(p));
    EXPECT_EQ(ex.run_all(), 1U);
    root.request_close();
    ex.run_all();
}

// The executor refuses: the body goes on.
TEST(give_way, TASK_121_a_closed_executor_keeps_no_body_from_its_end) {
    roost::testing::virtual_time time;
    owned_scope root(time, scope_options("root").report_failures());
    const auto counts = [](roost::testing::virtual_time& t) -> task<> {
        t.close();
        for (int i = 0; i < 1000; ++i) {
            t.skip(1ms);
            co_await checkpoint();
        }
    };
    const job j = root.launch("counts", counts(time));
    root.request_close();
    time.run();
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> look_at_it(time_point& seen) { seen = co_await this_time(); }

task<> look_at_rest(duration& left) {
    const token t = co_await this_token();
    left = t.remaining();
}
task<> limit_look(duration& left, token& later) {
    later = co_await this_token();
    co_await fail_after(3h, look_at_rest(left));
}

TEST(give_way, TREE_121_remaining_goes_by_the_clock_of_the_executor) {
    duration left{};
    token later;
    {
        rig::stage s;
        s.play(limit_look(left, later));
    }
    EXPECT_EQ(left, duration(3h));
    EXPECT_EQ(later.remaining(), duration::max()) << "its job and its executor are gone";
}

task<> look_without_timers(duration& left) {
    const token t = co_await this_token();
    roost::detail::own_deadline limit(*roost::detail::tree_access::target_of(t), now() + 3h);
    left = t.remaining();
}
TEST(give_way, TREE_121_remaining_goes_by_the_monotonic_clock_on_an_executor_without_timers) {
    roost::testing::manual_executor ex("no timers");
    owned_scope root(ex, "root");
    duration left{};
    root.launch("looks", look_without_timers(left));
    ex.run_all();
    EXPECT_LE(left, duration(3h));
    EXPECT_GT(left, duration(0));
    root.request_close();
    ex.run_all();
    EXPECT_TRUE(root.is_closed());
}

TEST(give_way, TASK_123_this_time_is_that_of_the_executor) {
    rig::stage s;
    time_point seen;
    s.play(look_at_it(seen));
    EXPECT_EQ(seen, s.executor.clock().now());
}

}  // namespace
