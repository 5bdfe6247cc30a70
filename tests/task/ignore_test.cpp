#include <roost/sync/event.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

using namespace roost;

namespace {

task<> guarded(event& inside, event& after, std::vector<std::string>& log) {
    {
        auto guard = co_await ignore_cancellation();
        {
            auto nested = co_await ignore_cancellation();
            co_await inside.wait();
        }
        log.emplace_back("inside");
        const bool active = co_await is_active();
        log.emplace_back(active ? "active" : "not active");
        co_await checkpoint();
        co_await yield();
        log.emplace_back("leaving");
    }
    const bool active = co_await is_active();
    log.emplace_back(active ? "active" : "not active");
    co_await after.wait();
    log.emplace_back("after");
}

TEST(ignore, TASK_21_inside_the_guard_a_cancel_has_no_effect_and_awaits_go_on) {
    rig::stage s;
    event inside;
    event after("after", true);
    std::vector<std::string> log;
    const job j = s.play(guarded(inside, after, log));
    j.cancel();
    EXPECT_TRUE(j.cancel_requested());
    EXPECT_FALSE(j.is_cancelled());
    s.run();
    EXPECT_EQ(inside.waiters_now(), 1U) << "its wait was not abandoned";
    inside.set();
    s.run();
    EXPECT_EQ(log, (std::vector<std::string>{"inside", "active", "leaving", "not active"}));
    EXPECT_EQ(j.state(), job_state::cancelled);
}

TEST(ignore, TASK_22_without_a_cancel_leaving_changes_nothing) {
    rig::stage s;
    event inside("inside", true);
    event after("after", true);
    std::vector<std::string> log;
    const job j = s.play(guarded(inside, after, log));
    EXPECT_EQ(log.back(), "after");
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> enter_too_late(bool& entered) {
    const job me = co_await this_job();
    me.cancel();
    auto guard = co_await ignore_cancellation();
    entered = true;
}

TEST(ignore, TASK_20_when_cancellation_came_first_the_guard_is_never_made) {
    rig::stage s;
    bool entered = false;
    const job j = s.play(enter_too_late(entered));
    EXPECT_FALSE(entered);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

task<> wait_for(event& e) { co_await e.wait(); }
task<> guard_with_child(scope& s, event& e, event& go, job& child, bool& seen_inside) {
    auto guard = co_await ignore_cancellation();
    child = s.launch("child", wait_for(e));
    co_await go.wait();
    seen_inside = child.cancel_requested();
    guard.leave();
    EXPECT_TRUE(child.cancel_requested()) << "the deferred walk runs when the guard is left";
    co_await yield();
    ADD_FAILURE() << "the next await ends the job";
}
task<> run_guard(event& e, event& go, job& child, bool& seen_inside) {
    co_await with_scope(guard_with_child, std::ref(e), std::ref(go), std::ref(child), std::ref(seen_inside));
}

TEST(ignore, TASK_22_leaving_the_outermost_guard_cancels_the_children_that_were_spared) {
    rig::stage s;
    event e;
    event go;
    job child;
    bool seen_inside = true;
    const job j = s.play(run_guard(e, go, child, seen_inside));
    j.cancel();
    s.run();
    EXPECT_EQ(child.state(), job_state::active) << "children of the guarded scope are not told";
    go.set();
    s.run();
    EXPECT_FALSE(seen_inside);
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// --- left where it does not belong ---------------------------------------------------------------------------------------

task<> give_away(std::optional<ignore_guard>& to, event& hold) {
    to.emplace(co_await ignore_cancellation());
    co_await hold.wait();
}
task<> take_and_leave(std::optional<ignore_guard>& from) {
    from.reset();
    co_return;
}
void leave_in_another_job() {
    rig::stage s;
    event hold;
    std::optional<ignore_guard> guard;
    s.start(give_away(guard, hold), "owner");
    s.run();
    s.play(take_and_leave(guard), "thief");
}
void leave_outside(bool after_the_end) {
    rig::stage s;
    event hold("hold", after_the_end);
    std::optional<ignore_guard> guard;
    s.start(give_away(guard, hold), "owner");
    s.run();
    guard.reset();
}
TEST(ignore, TASK_102_a_guard_that_is_left_elsewhere_ends_the_program_with_both_names) {
    EXPECT_DEATH(leave_in_another_job(), "job 'owner'.*its ignore guard was left in job 'thief'; destroy it in the job");
    EXPECT_DEATH(leave_outside(false), "job 'owner'.*its ignore guard was left outside of jobs; destroy it");
    EXPECT_DEATH(leave_outside(true),
                 "job 'owner'.*its ignore guard was left outside of jobs after the job had ended; destroy it");
}

task<> hand_over(scope&, ignore_guard guard) {
    guard.leave();
    co_return;
}
task<> leave_in_own_scope() {
    auto guard = co_await ignore_cancellation();
    co_await with_scope(hand_over, std::move(guard));
}
TEST(ignore, TASK_102_another_frame_of_the_same_job_may_leave_it) {
    rig::stage s;
    EXPECT_EQ(s.play(leave_in_own_scope()).state(), job_state::completed);
}

}  // namespace
