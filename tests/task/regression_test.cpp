// One test for each bug of the original job pseudo-code, and the producer of a channel.

#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace roost;

namespace {

task<> wait_for(event& e) { co_await e.wait(); }
task<> fail_now() {
    throw std::runtime_error("now");
    co_return;
}
task<> one_child(scope& s, event& e) {
    s.launch("child", wait_for(e));
    co_return;
}
task<> parent_of(event& e) { co_await with_scope(one_child, std::ref(e)); }
task<> join_it(job j, bool& woken) {
    co_await j.join();
    woken = true;
}

TEST(regression, JOB_46_KJB_1_3_4_a_parent_is_not_final_before_its_children_and_then_all_joiners_wake) {
    rig::stage s;
    event e;
    bool woken = false;
    const job j = s.play(parent_of(e));
    s.play(join_it(j, woken));
    EXPECT_FALSE(j.is_finished()) << "its body has returned, its child runs";
    EXPECT_FALSE(woken);
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_TRUE(woken);
}

task<> failing_child(scope& s, event& never) {
    s.launch("waits", wait_for(never));
    s.launch("fails", fail_now());
    co_return;
}
task<> observe_failure(event& never, job_state& seen) {
    auto ended = co_await as_outcome(with_scope(failing_child, std::ref(never)));
    seen = ended.has_error() ? job_state::failed : ended.is_cancelled() ? job_state::cancelled : job_state::completed;
}

TEST(regression, JOB_46_KJB_2_5_a_failed_child_makes_its_parent_failed_without_a_deadlock) {
    rig::stage s;
    event never;
    job_state seen = job_state::fresh;
    s.play(observe_failure(never, seen));
    EXPECT_EQ(seen, job_state::failed) << "not cancelled";
}

task<> body_fails(scope& s, event& never, job& child) {
    child = s.launch("waits", wait_for(never));
    co_await yield();
    throw std::runtime_error("body");
}
task<> observe_body(event& never, job& child) {
    const auto ended = co_await as_outcome(with_scope(body_fails, std::ref(never), std::ref(child)));
    EXPECT_TRUE(ended.has_error());
}

TEST(regression, JOB_46_KJB_6_a_failing_body_cancels_its_children) {
    rig::stage s;
    event never;
    job child;
    s.play(observe_body(never, child));
    EXPECT_EQ(child.state(), job_state::cancelled);
    EXPECT_EQ(child.why().kind(), reason_kind::failure);
}

task<> cancel_and_launch(scope& s, event& never, job& born) {
    s.cancel(reason(reason_kind::requested, "why"));
    born = s.launch("late", wait_for(never));
    co_return;
}
task<> run_cancel_and_launch(event& never, job& born) {
    co_await with_scope(cancel_and_launch, std::ref(never), std::ref(born));
}

TEST(regression, JOB_46_KJB_7_9_a_child_of_a_cancelled_parent_is_born_cancelled_and_has_the_reason) {
    rig::stage s;
    event never;
    job born;
    s.play(run_cancel_and_launch(never, born));
    EXPECT_EQ(born.state(), job_state::cancelled);
    EXPECT_EQ(born.why().text(), "why");
}

TEST(regression, JOB_46_KJB_8_handles_may_outlive_everything) {
    job kept;
    {
        rig::stage s;
        event e;
        kept = s.play(parent_of(e));
        e.set();
        s.run();
    }
    EXPECT_EQ(kept.state(), job_state::completed);
    EXPECT_EQ(kept.name(), "job");
}

TEST(regression, JOB_46_KJB_10_a_join_after_the_end_does_not_park) {
    rig::stage s;
    event e;
    e.set();
    const job j = s.play(parent_of(e));
    bool woken = false;
    s.start(join_it(j, woken));
    EXPECT_TRUE(s.executor.run_one());
    EXPECT_TRUE(woken);
}

task<> grandchild(scope& s, event& never) {
    s.launch("grandchild", parent_of(never));
    co_await never.wait();
}
task<> run_grandchild(event& never) { co_await with_scope(grandchild, std::ref(never)); }

TEST(regression, JOB_46_a_cancel_reaches_grandchildren) {
    rig::stage s;
    event never;
    const job j = s.play(run_grandchild(never));
    EXPECT_EQ(never.waiters_now(), 2U);
    j.cancel();
    s.run();
    EXPECT_EQ(never.waiters_now(), 0U);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// --- a producer whose channel closes when it ends ---------------------------------------------------------------------

task<> close_channel(channel<int>& c) {
    c.close();
    co_return;
}
task<> produce(channel<int>& c, int count, event& gate) {
    co_await on_exit(&close_channel, std::ref(c));
    for (int i = 0; i < count; ++i) {
        static_cast<void>(co_await c.send(i));
    }
    co_await gate.wait();
}
task<> consume(channel<int>& c, std::vector<int>& got, bool& ended) {
    for (;;) {
        auto item = co_await c.receive();
        if (!item) {
            break;
        }
        got.push_back(*item);
    }
    ended = true;
}

TEST(regression, JOB_47_a_channel_is_closed_when_its_producer_ends_also_when_it_is_cancelled) {
    for (const bool cancelled_midway : {false, true}) {
        rig::stage s;
        channel<int> c(2);
        event gate;
        std::vector<int> got;
        bool ended = false;
        const job producer = s.start(produce(c, 5, gate));
        s.play(consume(c, got, ended));
        EXPECT_FALSE(ended);
        if (cancelled_midway) {
            producer.cancel();
        } else {
            gate.set();
        }
        s.run();
        EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4}));
        EXPECT_TRUE(ended);
    }
}

}  // namespace
