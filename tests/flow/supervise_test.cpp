#include <roost/flow/supervise.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/this_task.hpp>

#include "../task/further.hpp"
#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<> fail_times(int times, int& runs) {
    ++runs;
    if (runs <= times) {
        throw std::runtime_error("attempt " + std::to_string(runs));
    }
    co_return;
}
task<> count_after(event& e, int& count) {
    co_await e.wait();
    ++count;
}
task<int> one_failing(supervisor& s, event& e, int& runs, int& count, int times) {
    s.launch("fails", fail_times, times, std::ref(runs));
    s.launch("goes on", count_after, std::ref(e), std::ref(count));
    co_return 5;
}

class bench {
public:
    rig::stage stage;
    event e;
    int runs = 0;
    int count = 0;
    std::optional<supervised<int>> got;
    std::string thrown;
    further::texts others;
};

task<> run_one_failing(bench& b, on_failure what, int times) {
    try {
        b.got.emplace(co_await supervise(what, one_failing, std::ref(b.e), std::ref(b.runs), std::ref(b.count), times));
    } catch (const std::runtime_error& e) {
        b.thrown = e.what();
        b.others = further::texts_of(others_of(std::current_exception()));
    }
}

TEST(supervise, JOB_30_an_ignored_failure_touches_neither_siblings_nor_the_outcome) {
    bench b;
    const job j = b.stage.play(run_one_failing(b, on_failure::ignore(), 1));
    EXPECT_FALSE(j.is_finished()) << "the sibling goes on";
    b.e.set();
    b.stage.run();
    ASSERT_TRUE(b.got);
    EXPECT_EQ(b.got->value(), 5);
    EXPECT_EQ(b.count, 1);
    EXPECT_EQ(b.got->counts().started, 2U);
    EXPECT_EQ(b.got->counts().completed, 1U);
    EXPECT_EQ(b.got->counts().failed, 1U);
    ASSERT_EQ(b.got->failures().size(), 1U);
    EXPECT_EQ(b.got->failures()[0].name(), "fails");
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(supervise, JOB_31_a_failed_child_is_restarted_after_the_backoff) {
    bench b;
    b.e.set();
    const job j = b.stage.play(run_one_failing(b, on_failure::restart(backoff(10ms), 5), 2));
    EXPECT_EQ(b.runs, 1);
    b.stage.advance(9ms);
    EXPECT_EQ(b.runs, 1) << "not before its time";
    b.stage.advance(1ms);
    EXPECT_EQ(b.runs, 2);
    b.stage.advance(19ms);
    EXPECT_EQ(b.runs, 2) << "the second wait is twice as long";
    b.stage.advance(1ms);
    EXPECT_EQ(b.runs, 3);
    ASSERT_TRUE(b.got);
    EXPECT_EQ(b.got->counts().restarts, 2U);
    EXPECT_EQ(b.got->counts().failures, 2U);
    EXPECT_EQ(b.got->counts().failed, 0U) << "it came right in the end";
    EXPECT_EQ(b.got->counts().completed, 2U);
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(supervise, JOB_31_the_limit_of_restarts_escalates) {
    bench b;
    const job j = b.stage.play(run_one_failing(b, on_failure::restart(backoff(), 2), 100));
    EXPECT_EQ(b.runs, 3);
    EXPECT_EQ(b.thrown, "attempt 3");
    EXPECT_EQ(b.count, 0) << "the sibling was cancelled";
    EXPECT_EQ(b.e.waiters_now(), 0U);
    EXPECT_EQ(j.state(), job_state::completed);
}

TEST(supervise, JOB_32_an_escalated_failure_cancels_the_siblings_and_is_thrown_with_its_type) {
    bench b;
    b.stage.play(run_one_failing(b, on_failure::escalate(), 1));
    EXPECT_EQ(b.thrown, "attempt 1");
    EXPECT_EQ(b.count, 0);
    EXPECT_FALSE(b.got);
}

TEST(supervise, JOB_33_a_handler_decides_case_by_case_and_its_own_failure_escalates) {
    bench b;
    b.e.set();
    auto restart_once = [](const child_failure& f) {
        return f.attempt() == 1 ? on_failure::restart(backoff(), 1) : on_failure::ignore();
    };
    b.stage.play(run_one_failing(b, on_failure::ask(restart_once), 100));
    ASSERT_TRUE(b.got);
    EXPECT_EQ(b.runs, 2);
    EXPECT_EQ(b.got->counts().failures, 2U);

    bench c;
    auto broken = [](const child_failure&) -> on_failure { throw std::logic_error("handler"); };
    further::listener sink;
    const job j = c.stage.play(run_one_failing(c, on_failure::ask(broken), 1));
    EXPECT_EQ(c.thrown, "attempt 1");
    EXPECT_EQ(c.others, further::texts{"handler"});
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(sink.take(), further::texts()) << "both were caught";
}

TEST(supervise, JOB_34_a_cancel_during_the_backoff_ends_the_child_and_the_failure_is_not_forgotten) {
    bench b;
    const job j = b.stage.play(run_one_failing(b, on_failure::restart(backoff(1h), 9), 100));
    EXPECT_EQ(b.runs, 1);
    j.cancel();
    b.stage.run();
    EXPECT_EQ(b.runs, 1);
    ASSERT_TRUE(b.got) << "the body had returned: its value survives";
    EXPECT_EQ(b.got->counts().cancelled, 2U);
    EXPECT_EQ(b.got->counts().failures, 1U);
    EXPECT_EQ(b.got->counts().restarts, 0U);
}

task<int> body_fails(supervisor& s, event& e, int& count) {
    s.launch("child", count_after, std::ref(e), std::ref(count));
    co_await yield();
    throw std::runtime_error("body");
}
task<> run_body_fails(bench& b, bool look) {
    auto ended = co_await supervise(on_failure::ignore(), body_fails, std::ref(b.e), std::ref(b.count));
    EXPECT_EQ(ended.counts().cancelled, 1U) << "the child was cancelled and awaited";
    if (look) {
        EXPECT_TRUE(ended.body().has_error());
        EXPECT_THROW(static_cast<void>(ended.value()), std::runtime_error);
    }
}

int reported = 0;

TEST(supervise, JOB_32_how_the_body_ended_is_part_of_the_result) {
    const auto sink =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++reported; });
    bench b;
    reported = 0;
    EXPECT_EQ(b.stage.play(run_body_fails(b, true)).state(), job_state::completed);
    EXPECT_EQ(reported, 0);
    EXPECT_EQ(b.stage.play(run_body_fails(b, false)).state(), job_state::completed);
    EXPECT_EQ(reported, 1) << "a failure that no code reads is never silent";
    EXPECT_EQ(b.count, 0);
    set_failure_sink(sink);
}

task<> cancel_one(supervisor& s, event& never, int& count, job& out) {
    out = s.launch("cancelled", count_after, std::ref(never), std::ref(count));
    co_await yield();
    out.cancel();
    co_await out.join();
}
task<> run_cancel_one(event& never, int& count, job& out, std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(on_failure::escalate(), cancel_one, std::ref(never), std::ref(count), std::ref(out)));
}

TEST(supervise, JOB_35_a_cancelled_child_is_no_failure) {
    rig::stage s;
    event never;
    int count = 0;
    job child;
    std::optional<supervised<void>> got;
    s.play(run_cancel_one(never, count, child, got));
    ASSERT_TRUE(got);
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_EQ(got->counts().cancelled, 1U);
    EXPECT_EQ(got->counts().failures, 0U);
}

TEST(supervise, JOB_31_a_child_that_ran_long_enough_starts_counting_afresh) {
    bench b;
    b.e.set();
    auto what = on_failure::restart(backoff(), 1, 0ns);
    b.stage.play(run_one_failing(b, what, 4));
    ASSERT_TRUE(b.got);
    EXPECT_EQ(b.runs, 5) << "a limit of one, but every attempt ran for at least the time that forgives";
}

TEST(supervise, JOB_34_a_restart_that_a_cancel_prevents_is_not_counted) {
    bench b;
    const job j = b.stage.play(run_one_failing(b, on_failure::restart(backoff(10ms), 9), 100));
    b.stage.executor.clock().advance(10ms);  // the wait is over, the child has not gone on yet
    j.cancel();
    b.stage.run();
    EXPECT_EQ(b.runs, 1);
    ASSERT_TRUE(b.got);
    EXPECT_EQ(b.got->counts().restarts, 0U);
    EXPECT_EQ(b.got->counts().failures, 1U);
}

task<> fails_and_waits(supervisor& s, int& runs, event& never) {
    s.launch("fails", fail_times, 100, std::ref(runs));
    co_await never.wait();
}
task<> run_fails_and_waits(on_failure what, int& runs, event& never) {
    auto ended = co_await supervise(what, fails_and_waits, std::ref(runs), std::ref(never));
    ADD_FAILURE() << "cancelled in the body: there is no result";
}

TEST(supervise, JOB_34_a_failure_whose_restart_is_prevented_reaches_the_sink_when_there_is_no_result) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    event never;
    const job j = s.play(run_fails_and_waits(on_failure::restart(backoff(1h), 9), runs, never));
    j.cancel();
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(sink.take(), further::texts{"attempt 1"});
    const job after = s.play(run_fails_and_waits(on_failure::restart(backoff(10ms), 9), runs, never));
    s.executor.clock().advance(10ms);
    after.cancel();
    s.run();
    EXPECT_EQ(sink.take(), further::texts{"attempt 2"}) << "the wait was over, the attempt had not begun";
    const job ignored = s.play(run_fails_and_waits(on_failure::ignore(), runs, never));
    ignored.cancel();
    s.run();
    EXPECT_EQ(sink.take(), further::texts()) << "what was ignored has been dealt with";
}

task<> with_bad_cleanup(supervisor& s, int& runs) {
    s.launch("fails", fail_times, 1000, std::ref(runs));
    s.launch("cleanup", further::return_with, std::string("cleanup"));
    co_return;
}
on_failure restart_until(int n) {
    return on_failure::ask([n](const child_failure& f) {
        return f.attempt() < static_cast<std::uint32_t>(n) ? on_failure::restart(backoff(), 10000) : on_failure::ignore();
    });
}
task<> run_bad_cleanup(int& runs, std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(restart_until(100), with_bad_cleanup, std::ref(runs)));
}
task<> launch_late(supervisor& s, int& runs, event& full) {
    s.launch("fails", fail_times, 1000, std::ref(runs));
    co_await full.wait();
    s.launch("cleanup", further::return_with, std::string("cleanup"));
}
task<> run_launch_late(int& runs, event& full, std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(restart_until(100), launch_late, std::ref(runs), std::ref(full)));
}

TEST(supervise, JOB_83_a_cleanup_that_fails_is_not_forgotten_when_a_hundred_failures_are_kept) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    event full;
    std::optional<supervised<void>> got;
    s.play(run_launch_late(runs, full, got));
    EXPECT_EQ(runs, 100);
    full.set();
    s.run();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->failures().size(), 100U);
    EXPECT_EQ(got->counts().failures, 101U);
    EXPECT_EQ(sink.take(), further::texts{"cleanup"}) << "there is no room for it in the result";
    runs = 0;
    s.play(run_bad_cleanup(runs, got));
    EXPECT_EQ(got->counts().failures, 101U);
    EXPECT_EQ(sink.take(), further::texts()) << "it came among the first hundred";
}

task<> fail_twice_often(int& runs) {
    const std::string n = std::to_string(++runs);
    co_await further::fail_twice(n, "cleanup " + n);
}
task<> one_fails_twice(supervisor& s, int& runs) {
    s.launch("fails", fail_twice_often, std::ref(runs));
    co_return;
}
task<> run_fails_twice(int& runs, std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(restart_until(120), one_fails_twice, std::ref(runs)));
}

TEST(supervise, JOB_83_what_else_an_attempt_failed_with_is_counted_once_kept_or_not) {
    further::listener sink;
    rig::stage s;
    int runs = 0;
    std::optional<supervised<void>> got;
    s.play(run_fails_twice(runs, got));
    ASSERT_TRUE(got);
    EXPECT_EQ(runs, 120);
    EXPECT_EQ(got->counts().failures, 120U);
    EXPECT_EQ(sink.take(), further::texts()) << "decided about with their attempts";
}

class throws_when_copied_twice {
public:
    throws_when_copied_twice() = default;
    throws_when_copied_twice(const throws_when_copied_twice& other) : copies_(other.copies_ + 1) {
        if (copies_ > 1) {
            throw std::runtime_error("copied");
        }
    }
    throws_when_copied_twice& operator=(const throws_when_copied_twice&) = delete;

private:
    int copies_ = 0;
};
task<> take(const throws_when_copied_twice&) { co_return; }
task<> launch_fails(supervisor& s) {
    const throws_when_copied_twice t;
    EXPECT_THROW(s.launch("fails", take, t), std::runtime_error);
    co_return;
}
task<> run_launch_fails(std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(on_failure::ignore(), launch_fails));
}
task<> leave_one(supervisor& s, event& e, int& count, supervisor*& out) {
    out = &s;
    s.launch("goes on", count_after, std::ref(e), std::ref(count));
    co_return;
}
task<> run_leave_one(event& e, int& count, supervisor*& out, std::optional<supervised<void>>& got) {
    got.emplace(co_await supervise(on_failure::ignore(), leave_one, std::ref(e), std::ref(count), std::ref(out)));
}

TEST(supervise, JOB_30_only_children_that_were_started_count_as_started) {
    rig::stage s;
    std::optional<supervised<void>> got;
    s.play(run_launch_fails(got));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->counts().started, 0U);

    event e;
    int count = 0;
    supervisor* closing = nullptr;
    s.play(run_leave_one(e, count, closing, got));
    ASSERT_NE(closing, nullptr);
    EXPECT_FALSE(closing->launch("outsider", count_after, std::ref(e), std::ref(count)));
    e.set();
    s.run();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(got->counts().started, 1U);
}

}  // namespace
