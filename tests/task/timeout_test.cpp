#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> take_time(duration d, int value = 5) {
    co_await sleep_for(d);
    co_return value;
}
task<> try_it(duration limit, duration needed, std::string& log) {
    try {
        const int got = co_await fail_after(limit, take_time(needed));
        log += "value " + std::to_string(got);
    } catch (const timed_out& e) {
        log += "timed out";
        EXPECT_NE(std::string(e.what()).find("timeout_test.cpp:"), std::string::npos) << e.what();
    }
}

TEST(timeout, JOB_17_in_time_gives_the_result_promptly_and_leaves_no_timer) {
    rig::stage s;
    std::string log;
    s.play(try_it(1s, 10ms, log));
    s.advance(10ms);
    EXPECT_EQ(log, "value 5");
}

TEST(timeout, JOB_17_too_late_is_the_error_timed_out) {
    rig::stage s;
    std::string log;
    const job j = s.play(try_it(10ms, 1s, log));
    s.advance(10ms);
    EXPECT_EQ(log, "timed out");
    EXPECT_EQ(j.state(), job_state::completed);
}

// Says at its end why it ended, if it was cancelled.
class ends_with {
public:
    ends_with(token mine, reason& why) noexcept : mine_(std::move(mine)), why_(&why) {}
    ends_with(const ends_with&) = delete;
    ends_with& operator=(const ends_with&) = delete;
    ~ends_with() { *why_ = mine_.reason(); }

private:
    token mine_;
    reason* why_;
};
task<> note_why(reason& why) {
    token mine = co_await this_token();
    const ends_with note(std::move(mine), why);
    co_await sleep_for(1h);
}
task<> both_deadlines(reason& failed, reason& moved) {
    try {
        co_await fail_after(10ms, note_why(failed));
    } catch (const timed_out&) {}
    const bool in_time = co_await move_on_after(10ms, note_why(moved));
    EXPECT_FALSE(in_time);
}

TEST(timeout, JOB_17_what_takes_too_long_is_cancelled_with_the_reason_timeout) {
    rig::stage s;
    reason failed;
    reason moved;
    const job j = s.play(both_deadlines(failed, moved));
    s.advance(10ms);
    EXPECT_EQ(failed.kind(), reason_kind::timeout);
    s.advance(10ms);
    EXPECT_EQ(moved.kind(), reason_kind::timeout);
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_FALSE(j.cancel_requested()) << "the deadline's region was cancelled, not the job";
}

task<> move_on(duration limit, duration needed, std::string& log) {
    auto got = co_await move_on_after(limit, take_time(needed));
    log += got ? "value" : "moved on";
}

TEST(timeout, JOB_18_move_on_after_is_empty_when_it_is_too_late) {
    rig::stage s;
    std::string log;
    s.play(move_on(10ms, 1s, log));
    s.advance(10ms);
    EXPECT_EQ(log, "moved on");
    log.clear();
    s.play(move_on(1s, 10ms, log));
    s.advance(10ms);
    EXPECT_EQ(log, "value");
}

task<> just_wait(event& e) { co_await e.wait(); }
task<int&> give(int& target) { co_return target; }
task<> move_on_kinds(event& e, int& target, bool& done, int*& found) {
    done = co_await move_on_after(1s, just_wait(e));
    found = co_await move_on_after(1s, give(target));
}

TEST(timeout, JOB_18_a_void_task_gives_bool_and_a_reference_gives_a_pointer) {
    rig::stage s;
    event e("e", true);
    int target = 0;
    bool done = false;
    int* found = nullptr;
    s.play(move_on_kinds(e, target, done, found));
    EXPECT_TRUE(done);
    EXPECT_EQ(found, &target);
}

task<> nested(duration inner, duration outer, std::string& log) {
    auto body = [](duration d, std::string& l) -> task<> {
        auto got = co_await move_on_after(d, take_time(1h));
        l += got ? "value " : "inner ";
        co_await sleep_for(1h);
        l += "after ";
    };
    auto got = co_await move_on_after(outer, body(inner, log));
    log += got ? "done" : "outer";
}

TEST(timeout, JOB_19_nested_deadlines_are_told_apart_by_whose_it_was) {
    rig::stage s;
    std::string log;
    s.play(nested(10ms, 20ms, log));
    s.advance(10ms);
    EXPECT_EQ(log, "inner ");
    s.advance(10ms);
    EXPECT_EQ(log, "inner outer");
    log.clear();
    s.play(nested(20ms, 10ms, log));
    s.advance(30ms);
    EXPECT_EQ(log, "outer") << "the outer expiry is never reported as the inner's";
    log.clear();
    s.play(nested(10ms, 10ms, log));
    s.advance(10ms);
    EXPECT_EQ(log, "outer") << "when both have passed, the outer one wins";
}

task<rig::tracked> late_value(event& e, int& alive) {
    auto guard = co_await ignore_cancellation();
    co_await e.wait();
    co_return rig::tracked(alive);
}
task<> too_late(event& e, int& alive, std::string& log) {
    try {
        auto got = co_await fail_after(10ms, late_value(e, alive));
        log += "value";
    } catch (const timed_out&) {
        log += "timed out";
    }
}

TEST(timeout, JOB_20_a_value_that_exists_wins_however_late) {
    rig::stage s;
    event e;
    int alive = 0;
    std::string log;
    s.play(too_late(e, alive, log));
    s.advance(10ms);
    EXPECT_EQ(log, "") << "the body is awaited";
    e.set();
    s.run();
    EXPECT_EQ(log, "value");
    EXPECT_EQ(alive, 0) << "it was given once, and is gone";
}

task<int> after_gap(rig::hand_timers& clock, bool ends_at_checkpoint) {
    clock.skip(50ms);
    if (ends_at_checkpoint) {
        co_await checkpoint();
    }
    co_return 5;
}
task<int> after_gap_yields(rig::hand_timers& clock) {
    clock.skip(50ms);
    co_await yield();
    co_return 5;
}
task<int> after_gap_fails(rig::hand_timers& clock) {
    clock.skip(50ms);
    throw std::runtime_error("late");
}
task<> gaps(rig::hand_timers& clock, std::string& log) {
    const auto returns = co_await move_on_after(5ms, after_gap(clock, false));
    const auto checks = co_await move_on_after(5ms, after_gap(clock, true));
    const auto yields = co_await move_on_after(5ms, after_gap_yields(clock));
    log += returns ? "value " : "late ";
    log += checks ? "value " : "late ";
    log += yields ? "value " : "late ";
    try {
        static_cast<void>(co_await fail_after(5ms, after_gap_fails(clock)));
    } catch (const std::runtime_error& e) {
        log += e.what();
    }
}

// The clock has passed the deadline, and no timer has had a chance to fire.
TEST(timeout, JOB_120_a_checkpoint_judges_by_the_clock_and_an_end_without_one_gives_its_result) {
    rig::stage s;
    std::string log;
    s.play(gaps(s.executor.clock(), log));
    EXPECT_EQ(log, "value late late late");
}

task<> sleep_long() { co_await sleep_for(1h); }
task<int> leaves_children(scope& s) {
    s.launch("child", sleep_long());
    co_return 5;
}
task<int> opens_scope() { co_return co_await with_scope(leaves_children); }
task<int> inside_another(scope&) { co_return co_await opens_scope(); }
task<int> opens_two() { co_return co_await with_scope(inside_another); }
task<> limited_scopes(std::string& log) {
    const auto one = co_await move_on_after(10ms, opens_scope());
    const auto two = co_await move_on_after(10ms, opens_two());
    log += one ? "value " : "late ";
    log += two ? "value" : "late";
}

TEST(timeout, JOB_121_a_scope_whose_children_the_deadline_cancels_has_timed_out_though_its_body_returned) {
    rig::stage s;
    std::string log;
    s.play(limited_scopes(log));
    s.advance(10ms);
    s.advance(10ms);
    EXPECT_EQ(log, "late late");
}

// The clock passes the deadline, and the body goes on, with or without a child that will never run.
task<int> goes_on_late(scope& s, rig::hand_timers& clock, bool launches) {
    clock.skip(50ms);
    static_cast<void>(co_await is_active());
    if (launches) {
        s.launch("child", sleep_long());
    }
    co_return 5;
}
task<int> scope_that_goes_on(rig::hand_timers& clock, bool launches) {
    co_return co_await with_scope(goes_on_late, std::ref(clock), launches);
}
task<> scopes_that_go_on(rig::hand_timers& clock, std::string& log) {
    const auto alone = co_await move_on_after(5ms, scope_that_goes_on(clock, false));
    const auto without_child = co_await move_on_after(5ms, scope_that_goes_on(clock, true));
    log += alone ? "value " : "late ";
    log += without_child ? "value" : "late";
}

TEST(timeout, JOB_121_a_scope_with_a_child_that_the_deadline_did_not_let_run_has_timed_out) {
    rig::stage s;
    std::string log;
    s.play(scopes_that_go_on(s.executor.clock(), log));
    EXPECT_EQ(log, "value late");
}

task<int> cut_inside(std::string& log) {
    const auto got = co_await move_on_after(10ms, opens_scope());
    log += got ? "value " : "late ";
    auto guard = co_await ignore_cancellation();
    co_await sleep_for(10s);
    co_return 5;
}
task<> late_after_a_cut(std::string& log) {
    const auto got = co_await move_on_after(1s, cut_inside(log));
    log += got ? "value" : "late";
}

TEST(timeout, JOB_121_an_inner_limit_that_cut_a_scope_short_does_not_make_the_outer_one_late) {
    rig::stage s;
    std::string log;
    s.play(late_after_a_cut(log));
    s.advance(10ms);
    s.advance(1s);
    s.advance(10s);
    EXPECT_EQ(log, "late value");
}

task<int> mark_started(bool& started, rig::tracked) {
    started = true;
    co_return 1;
}
task<> no_time(duration d, bool& started, int& alive, std::string& log) {
    try {
        static_cast<void>(co_await fail_after(d, mark_started(started, rig::tracked(alive))));
        log += "value";
    } catch (const timed_out&) {
        log += "timed out ";
    }
    auto got = co_await move_on_after(d, mark_started(started, rig::tracked(alive)));
    log += got ? "value" : "moved on";
}

TEST(timeout, JOB_21_a_timeout_of_zero_or_less_does_not_start_the_body) {
    for (const duration d : {duration(0), duration(-1), duration::min()}) {
        rig::stage s;
        bool started = false;
        int alive = 0;
        std::string log;
        s.play(no_time(d, started, alive, log));
        EXPECT_FALSE(started);
        EXPECT_EQ(alive, 0);
        EXPECT_EQ(log, "timed out moved on");
    }
}

task<> outer_and_timeout(std::string& log) {
    auto got = co_await move_on_after(10ms, take_time(1h));
    log += got ? "value" : "moved on";
}

TEST(timeout, JOB_22_a_pending_outer_cancellation_wins) {
    rig::stage s;
    std::string log;
    const job j = s.play(outer_and_timeout(log));
    s.executor.clock().advance(10ms);
    j.cancel();
    s.run();
    EXPECT_EQ(log, "");
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::requested);
}

task<int> fail_when_cancelled(event& e) {
    auto guard = co_await ignore_cancellation();
    co_await e.wait();
    throw std::runtime_error("real");
}
task<> failure_and_timeout(event& e, std::string& log) {
    try {
        static_cast<void>(co_await fail_after(10ms, fail_when_cancelled(e)));
    } catch (const timed_out&) {
        log += "timed out";
    } catch (const std::runtime_error&) {
        log += "failed";
    }
}

TEST(timeout, JOB_23_a_failure_outranks_the_timeout) {
    rig::stage s;
    event e;
    std::string log;
    s.play(failure_and_timeout(e, log));
    s.advance(10ms);
    e.set();
    s.run();
    EXPECT_EQ(log, "failed");
}

task<> ask(time_point& inner) {
    const token t = co_await this_token();
    inner = t.deadline();
}
task<> ask_nested(time_point& outer, time_point& looser, time_point& tighter) {
    const token t = co_await this_token();
    outer = t.deadline();
    co_await fail_after(1h, ask(looser));
    co_await fail_after(1ms, ask(tighter));
}
task<> ask_all(time_point& none, time_point& outer, time_point& looser, time_point& tighter) {
    const token t = co_await this_token();
    none = t.deadline();
    co_await fail_after(1s, ask_nested(outer, looser, tighter));
}

TEST(timeout, JOB_24_the_least_deadline_on_the_way_up_can_be_asked_for) {
    rig::stage s;
    const time_point now = s.executor.clock().now();
    time_point none;
    time_point outer;
    time_point looser;
    time_point tighter;
    s.play(ask_all(none, outer, looser, tighter));
    EXPECT_EQ(none, no_deadline);
    EXPECT_EQ(outer, now + 1s);
    EXPECT_EQ(looser, now + 1s);
    EXPECT_EQ(tighter, now + 1ms);
}

task<> try_behind_guard(std::string& log) {
    const ignore_guard guard = co_await ignore_cancellation();
    try {
        static_cast<void>(co_await fail_after(10s, take_time(1h)));
    } catch (const timed_out&) {
        log += "inner ";
    }
}
task<> hold_up_outer(std::string& log) {
    try {
        co_await fail_after(1s, try_behind_guard(log));
    } catch (const timed_out&) {
        log += "outer";
    }
}

TEST(timeout, JOB_24_a_deadline_behind_an_earlier_one_counts_while_a_guard_holds_that_one_up) {
    rig::stage s;
    std::string log;
    s.play(hold_up_outer(log));
    s.advance(1s);
    EXPECT_EQ(log, "");
    s.advance(9s);
    EXPECT_EQ(log, "inner ") << "the outer one came first, but what it limits has ended all the same";
}

task<> at_forms(time_point past, std::string& log) {
    auto got = co_await move_on_at(past, take_time(1h));
    log += got ? "value " : "moved on ";
    try {
        static_cast<void>(co_await fail_at(past, take_time(1h)));
    } catch (const timed_out&) {
        log += "timed out";
    }
}

TEST(timeout, JOB_21_the_at_forms_too) {
    rig::stage s;
    std::string log;
    s.play(at_forms(s.executor.clock().now(), log));
    EXPECT_EQ(log, "moved on timed out");
}

}  // namespace
