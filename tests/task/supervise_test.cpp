#include <roost/sync/event.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/supervise.hpp>

#include "further.hpp"
#include "rig.hpp"

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
};

task<> run_one_failing(bench& b, on_failure what, int times) {
    try {
        b.got.emplace(co_await supervise(what, one_failing, std::ref(b.e), std::ref(b.runs), std::ref(b.count), times));
    } catch (const std::runtime_error& e) {
        b.thrown = e.what();
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
    EXPECT_EQ(further::texts_of(j.others()), further::texts{"handler"});
    EXPECT_EQ(sink.take(), further::texts{"handler"}) << "the first was caught";
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
    EXPECT_EQ(reported, 1) << "a failure nobody looks at is never silent";
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

}  // namespace
