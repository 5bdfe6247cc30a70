#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> clean_up(event& e) {
    co_await e.wait();
    co_return 3;
}
task<> shielded(event& e, int& got, bool& after, duration budget) {
    got = co_await shield(budget, clean_up(e));
    co_await checkpoint();
    after = true;
}

TEST(shield, TASK_25_leaving_is_no_checkpoint_so_the_value_arrives_and_the_next_one_ends_the_job) {
    rig::stage s;
    event e;
    int got = 0;
    bool after = false;
    const job j = s.play(shielded(e, got, after, 1s));
    j.cancel();
    s.run();
    EXPECT_EQ(e.waiters_now(), 1U);
    e.set();
    s.run();
    EXPECT_EQ(got, 3);
    EXPECT_FALSE(after);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

TEST(shield, TASK_24_when_the_budget_is_spent_the_cancel_comes_through) {
    rig::stage s;
    event e;
    int got = 0;
    bool after = false;
    const job j = s.play(shielded(e, got, after, 1s));
    j.cancel();
    s.advance(999ms);
    EXPECT_FALSE(j.is_finished());
    s.advance(1ms);
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::requested) << "the reason is the outer one";
    EXPECT_EQ(got, 0);
}

TEST(shield, TASK_24_a_cancel_after_the_budget_comes_through_at_once) {
    rig::stage s;
    event e;
    int got = 0;
    bool after = false;
    const job j = s.play(shielded(e, got, after, 1s));
    s.advance(2s);
    EXPECT_FALSE(j.is_finished()) << "without a cancel the budget alone ends nothing";
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> enter_after_cancel(event& e, int& got) {
    const job me = co_await this_job();
    me.cancel();
    got = co_await shield(1s, clean_up(e));
}

TEST(shield, TASK_23_it_can_be_entered_in_a_cancelled_job) {
    rig::stage s;
    event e;
    int got = 0;
    const job j = s.play(enter_after_cancel(e, got));
    EXPECT_EQ(e.waiters_now(), 1U);
    e.set();
    s.run();
    EXPECT_EQ(got, 3);
    EXPECT_EQ(j.state(), job_state::completed) << "it returned without another await";
}

task<int> fail_inside(event& e) {
    co_await e.wait();
    throw std::runtime_error("inside");
}
task<> keep_error(event& e) { static_cast<void>(co_await shield(1s, fail_inside(e))); }

TEST(shield, TASK_25_an_error_from_inside_survives_a_concurrent_cancel) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        rig::stage s;
        event e;
        const job j = s.play(keep_error(e));
        j.cancel();
        e.set();
        s.run();
        EXPECT_EQ(j.state(), job_state::failed);
    }
    set_failure_sink(before);
}

TEST(shield, TASK_24_abort_goes_through) {
    rig::stage s;
    event e;
    int got = 0;
    bool after = false;
    const job j = s.play(shielded(e, got, after, duration::max()));
    j.tree_node().abort();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(got, 0);
}

task<int> quick() { co_return 1; }
task<int> slow() {
    co_await sleep_for(10ms);
    co_return 2;
}
task<int> never_ends(event& e) {
    co_await e.wait();
    co_return 0;
}
task<int> both(scope& s) {
    auto a = s.async("quick", quick());
    auto b = s.async("slow", slow());
    const int first = co_await std::move(a);
    const int second = co_await std::move(b);
    co_return first + second;
}
task<int> full_cleanup(event& never, std::string& log) {
    const int sum = co_await with_scope(both);
    log += "scope ";
    co_await sleep_for(10ms);
    log += "sleep ";
    auto late = co_await move_on_after(10ms, never_ends(never));
    log += late ? "value " : "timeout ";
    const auto all = co_await when_all(quick(), slow());
    log += "all" + std::to_string(std::get<0>(all) + std::get<1>(all)) + " ";
    const auto first = co_await race(slow(), never_ends(never));
    log += "race" + std::to_string(first.value());
    co_return sum;
}
task<> cleanup_in_cancelled(event& never, std::string& log, int& got) {
    const job me = co_await this_job();
    me.cancel();
    got = co_await shield(1h, full_cleanup(never, log));
}

TEST(shield, TASK_26_scopes_timers_timeouts_when_all_and_race_work_inside_cleanup_of_a_cancelled_job) {
    rig::stage s;
    event never;
    std::string log;
    int got = 0;
    s.play(cleanup_in_cancelled(never, log, got));
    for (int i = 0; i < 5; ++i) {
        s.advance(10ms);
    }
    EXPECT_EQ(log, "scope sleep timeout all3 race2");
    EXPECT_EQ(got, 3);
    EXPECT_EQ(never.waiters_now(), 0U) << "the losers are gone";
}

task<> see_deadline(time_point& inside) {
    const token t = co_await this_token();
    inside = t.deadline();
}
task<> deadline_then_shield(time_point& outer, time_point& inside) {
    const token t = co_await this_token();
    outer = t.deadline();
    co_await shield(1h, see_deadline(inside));
}
task<> with_deadline(time_point& outer, time_point& inside) { co_await fail_after(1s, deadline_then_shield(outer, inside)); }

TEST(shield, TASK_23_outer_deadlines_do_not_count_inside) {
    rig::stage s;
    time_point outer;
    time_point inside;
    const time_point now = s.executor.clock().now();
    s.play(with_deadline(outer, inside));
    EXPECT_EQ(outer, now + 1s);
    EXPECT_EQ(inside, now + 1h);
}

}  // namespace
