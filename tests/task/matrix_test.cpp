// The matrix of the job specification, row by row.

#include <roost/flow/supervise.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <time.h>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class child_error : public std::runtime_error {
public:
    explicit child_error(int c) : std::runtime_error("child error"), code(c) {}
    int code;
};

task<> complete(int& count) {
    co_await yield();
    ++count;
}
task<> wait_for(event& e, int& count) {
    co_await e.wait();
    ++count;
}
task<> fail_with(int code) {
    co_await yield();
    throw child_error(code);
}
int code_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const child_error& e) {
        return e.code;
    } catch (...) {
        return -1;
    }
}

// --- row 1 ---------------------------------------------------------------------------------------------------------

task<> three(scope& s, int& count) {
    for (int i = 0; i < 3; ++i) {
        s.launch("child", complete(count));
    }
    co_return;
}
task<> run_three(int& count) { co_await with_scope(three, std::ref(count)); }

TEST(matrix, JOB_45_row_1_three_children_complete) {
    rig::stage s;
    int count = 0;
    const job j = s.play(run_three(count));
    EXPECT_EQ(count, 3);
    EXPECT_EQ(j.state(), job_state::completed);
}

// --- row 2 --------------------------------------------------------------------------------------------------------

task<> one_fails(scope& s, event& never, int& count, std::vector<job>& jobs) {
    jobs.push_back(s.launch("a", wait_for(never, count)));
    jobs.push_back(s.launch("fails", fail_with(7)));
    jobs.push_back(s.launch("b", wait_for(never, count)));
    co_return;
}
task<> run_one_fails(event& never, int& count, std::vector<job>& jobs) {
    co_await with_scope(one_fails, std::ref(never), std::ref(count), std::ref(jobs));
}

// Failures of the top job are expected here: they are dropped.
class quiet {
public:
    quiet() : before_(set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {})) {}
    ~quiet() { set_failure_sink(before_); }

private:
    failure_sink before_;
};

TEST(matrix, JOB_45_row_2_a_child_fails_siblings_are_cancelled_and_the_parent_has_failed_with_its_code) {
    const quiet sink;
    rig::stage s;
    event never;
    int count = 0;
    std::vector<job> jobs;
    const job j = s.play(run_one_fails(never, count, jobs));
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(code_of(j.error()), 7);
    EXPECT_EQ(jobs[0].state(), job_state::cancelled);
    EXPECT_EQ(jobs[1].state(), job_state::failed);
    EXPECT_EQ(jobs[2].state(), job_state::cancelled);
    EXPECT_EQ(count, 0);
}

// --- row 3 ---------------------------------------------------------------------------------------------------------

task<> supervised_three(supervisor& s, event& e, int& count, std::vector<job>& jobs) {
    jobs.push_back(s.launch("a", wait_for, std::ref(e), std::ref(count)));
    jobs.push_back(s.launch("fails", fail_with, 7));
    jobs.push_back(s.launch("b", wait_for, std::ref(e), std::ref(count)));
    co_return;
}
task<> run_supervised(event& e, int& count, std::vector<job>& jobs, std::size_t& failed) {
    auto ended = co_await supervise(on_failure::ignore(), supervised_three, std::ref(e), std::ref(count), std::ref(jobs));
    failed = ended.counts().failed;
}

TEST(matrix, JOB_45_row_3_a_supervised_child_fails_and_the_others_go_on) {
    rig::stage s;
    event e;
    int count = 0;
    std::size_t failed = 0;
    std::vector<job> jobs;
    const job j = s.play(run_supervised(e, count, jobs, failed));
    EXPECT_EQ(jobs[1].state(), job_state::failed);
    e.set();
    s.run();
    EXPECT_EQ(count, 2);
    EXPECT_EQ(failed, 1U);
    EXPECT_EQ(j.state(), job_state::completed);
}

// --- row 4 ---------------------------------------------------------------------------------------------------------

task<> start_then_wait(scope& s, event& never, int& count, std::vector<job>& jobs) {
    for (int i = 0; i < 3; ++i) {
        jobs.push_back(s.launch("child", complete(count)));
    }
    co_await never.wait();
}
task<> run_start_then_wait(event& never, int& count, std::vector<job>& jobs) {
    co_await with_scope(start_then_wait, std::ref(never), std::ref(count), std::ref(jobs));
}

TEST(matrix, JOB_45_row_4_a_cancel_before_the_children_start_ends_all_of_them_cancelled) {
    rig::stage s;
    event never;
    int count = 0;
    std::vector<job> jobs;
    const job j = s.start(run_start_then_wait(never, count, jobs));
    EXPECT_TRUE(s.executor.run_one()) << "the parent has started them, and none has run";
    EXPECT_TRUE(j.cancel()) << "this call moved it out of active";
    EXPECT_FALSE(j.cancel());
    s.run();
    EXPECT_EQ(count, 0);
    ASSERT_EQ(jobs.size(), 3U);
    for (const job& child : jobs) {
        EXPECT_EQ(child.state(), job_state::cancelled);
    }
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// --- row 5 ---------------------------------------------------------------------------------------------------------

task<> three_wait(scope& s, event& never, int& count, std::vector<job>& jobs) {
    for (int i = 0; i < 3; ++i) {
        jobs.push_back(s.launch("child", wait_for(never, count)));
    }
    co_return;
}
task<> run_three_wait(event& never, int& count, std::vector<job>& jobs) {
    co_await with_scope(three_wait, std::ref(never), std::ref(count), std::ref(jobs));
}
task<> in_time(event& never, int& count, std::vector<job>& jobs, bool& timed) {
    try {
        co_await fail_after(10ms, run_three_wait(never, count, jobs));
    } catch (const timed_out&) {
        timed = true;
    }
}

TEST(matrix, JOB_45_row_5_a_timeout_that_comes_first_cancels_with_that_reason_and_is_an_error_of_its_own) {
    rig::stage s;
    event never;
    int count = 0;
    bool timed = false;
    std::vector<job> jobs;
    const job j = s.play(in_time(never, count, jobs, timed));
    EXPECT_EQ(never.waiters_now(), 3U);
    s.advance(10ms);
    EXPECT_TRUE(timed);
    EXPECT_EQ(never.waiters_now(), 0U);
    ASSERT_EQ(jobs.size(), 3U);
    for (const job& child : jobs) {
        EXPECT_EQ(child.state(), job_state::cancelled);
        EXPECT_EQ(child.why().kind(), reason_kind::timeout);
    }
    EXPECT_EQ(count, 0);
    EXPECT_EQ(j.state(), job_state::completed) << "it caught the error; it was not cancelled itself";
}

// --- rows 6 to 8 ---------------------------------------------------------------------------------------------------

task<std::string> make_value(event& e) {
    co_await e.wait();
    co_return "value";
}
task<int> make_failure() {
    co_await yield();
    throw child_error(9);
}
task<> await_value(scope& s, event& e, std::string& got) {
    auto d = s.async("value", make_value(e));
    got = co_await std::move(d);
}
task<> run_await_value(event& e, std::string& got) { co_await with_scope(await_value, std::ref(e), std::ref(got)); }

TEST(matrix, JOB_45_row_6_a_deferred_gives_its_value) {
    rig::stage s;
    event e;
    std::string got;
    s.play(run_await_value(e, got));
    e.set();
    s.run();
    EXPECT_EQ(got, "value");
}

task<> await_failure(scope& s, int& code) {
    auto d = s.async("fails", make_failure());
    try {
        static_cast<void>(co_await std::move(d));
    } catch (const child_error& e) {
        code = e.code;
        throw;
    }
}
task<> run_await_failure(int& code) { co_await with_scope(await_failure, std::ref(code)); }

TEST(matrix, JOB_45_row_7_a_deferred_that_fails_fails_its_scope_with_its_error) {
    const quiet sink;
    rig::stage s;
    int code = 0;
    const job j = s.play(run_await_failure(code));
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(code_of(j.error()), 9);
}

TEST(matrix, JOB_45_row_8_a_cancel_during_an_await_ends_both_sides) {
    rig::stage s;
    event never;
    std::string got;
    const job j = s.play(run_await_value(never, got));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(never.waiters_now(), 0U);
    EXPECT_EQ(got, "");
}

// --- row 9 ---------------------------------------------------------------------------------------------------------

task<> inner_scope(event& never, int& count, std::vector<job>& jobs) { co_await run_one_fails(never, count, jobs); }
task<> outer_scope(scope& s, event& never, int& count, std::vector<job>& inner, std::vector<job>& outer) {
    outer.push_back(s.launch("inner", inner_scope(never, count, inner)));
    outer.push_back(s.launch("sibling", wait_for(never, count)));
    co_return;
}
task<> run_outer(event& never, int& count, std::vector<job>& inner, std::vector<job>& outer) {
    co_await with_scope(outer_scope, std::ref(never), std::ref(count), std::ref(inner), std::ref(outer));
}

TEST(matrix, JOB_45_row_9_an_inner_failure_travels_out_level_by_level) {
    const quiet sink;
    rig::stage s;
    event never;
    int count = 0;
    std::vector<job> inner;
    std::vector<job> outer;
    const job j = s.play(run_outer(never, count, inner, outer));
    EXPECT_EQ(inner[0].state(), job_state::cancelled);
    EXPECT_EQ(outer[0].state(), job_state::failed);
    EXPECT_EQ(outer[1].state(), job_state::cancelled);
    EXPECT_EQ(j.state(), job_state::failed);
    EXPECT_EQ(code_of(j.error()), 7) << "with its own type all the way";
    EXPECT_TRUE(j.others().empty()) << "one failure is counted once";
}

// --- row 10 --------------------------------------------------------------------------------------------------------

std::string told;

task<> start_elsewhere(owned_scope& other, int& count) {
    other.launch("housekeeping", fail_with(3));
    co_await yield();
    ++count;
}

TEST(matrix, JOB_45_row_10_work_in_a_named_root_does_not_touch_its_creator_and_its_failure_reaches_the_sink) {
    told.clear();
    const failure_sink before = set_failure_sink(
        +[](std::string_view, std::string_view name, site, std::exception_ptr) noexcept { told = std::string(name); });
    rig::stage s;
    owned_scope other(s.executor, scope_options("outlives").report_failures());
    int count = 0;
    const job j = s.play(start_elsewhere(other, count));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(told, "housekeeping");
    other.request_close();
    s.run();
    EXPECT_TRUE(other.is_closed());
    set_failure_sink(before);
}

// --- row 11 --------------------------------------------------------------------------------------------------------

task<> wait_quietly(event& e) { co_await e.wait(); }
task<> fail_in_a_shield(event& e) {
    co_await shield(duration::max(), wait_quietly(e));
    throw child_error(11);
}
task<> fails_whatever_happens(scope& s, event& e, event& never) {
    s.launch("fails", fail_in_a_shield(e));
    co_await never.wait();
}
task<> run_fails_whatever_happens(event& e, event& never) {
    co_await with_scope(fails_whatever_happens, std::ref(e), std::ref(never));
}

TEST(matrix, JOB_45_row_11_failure_outranks_an_external_cancel_that_came_first_or_later) {
    const quiet sink;
    for (const bool cancel_first : {true, false}) {
        rig::stage s;
        event e;
        event never;
        const job j = s.play(run_fails_whatever_happens(e, never));
        if (cancel_first) {
            j.cancel();
            s.run();
            EXPECT_EQ(j.state(), job_state::cancelling);
            e.set();
        } else {
            e.set();
            j.cancel();
        }
        s.run();
        EXPECT_EQ(j.state(), job_state::failed);
        EXPECT_EQ(code_of(j.error()), 11);
    }
}

// --- row 12 --------------------------------------------------------------------------------------------------------

task<> many(scope& s, event& never, int& count, int children) {
    for (int i = 0; i < children; ++i) {
        s.launch("sibling", wait_for(never, count));
    }
    co_await never.wait();
}
task<> run_many(event& never, int& count, int children) {
    co_await with_scope(many, std::ref(never), std::ref(count), children);
}
// Of this thread alone: what others do on the machine does not count.
std::chrono::nanoseconds cpu_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}
std::chrono::nanoseconds time_to_cancel(int children) {
    rig::stage s;
    event never;
    int count = 0;
    const job j = s.play(run_many(never, count, children));
    const auto began = cpu_time();
    j.cancel();
    s.run();
    const auto took = cpu_time() - began;
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(never.waiters_now(), 0U);
    EXPECT_EQ(count, 0);
    return took;
}

TEST(matrix, JOB_45_row_12_a_thousand_siblings_are_cancelled_in_linear_time_and_nothing_is_left) {
    static_cast<void>(time_to_cancel(1000));
    std::chrono::nanoseconds small = 1h;
    std::chrono::nanoseconds large = 1h;
    for (int i = 0; i < 5; ++i) {
        small = std::min(small, time_to_cancel(1000));
        large = std::min(large, time_to_cancel(8000));
    }
    EXPECT_LT(large, small * 32) << "eight times as many: 8 is linear, 64 would be quadratic";
}

// --- row 13 --------------------------------------------------------------------------------------------------------

task<> join_it(job j, int& woken, std::vector<int>& order, int mine) {
    co_await j.join();
    EXPECT_TRUE(j.is_finished());
    ++woken;
    order.push_back(mine);
}

TEST(matrix, JOB_45_row_13_thirty_two_waiters_are_woken_once_each_in_order) {
    rig::stage s;
    event e;
    int count = 0;
    int woken = 0;
    std::vector<int> order;
    const job target = s.play(wait_for(e, count));
    for (int i = 0; i < 32; ++i) {
        s.play(join_it(target, woken, order, i));
    }
    EXPECT_EQ(woken, 0);
    e.set();
    s.run();
    EXPECT_EQ(woken, 32);
    for (int i = 0; i < 32; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

}  // namespace
