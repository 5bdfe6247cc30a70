#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/job.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>
#include <roost/tree/callback.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <any>
#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::ext;

namespace {

static_assert(std::is_nothrow_copy_constructible_v<job>);
static_assert(!std::is_aggregate_v<job>);

task<> wait_for(event& e) { co_await e.wait(); }
task<> fail_after_wait(event& e) {
    co_await e.wait();
    throw std::runtime_error("late");
}
task<> join_and_note(job target, int id, std::vector<int>& order) {
    co_await target.join();
    order.push_back(id);
}

TEST(job, JOB_6_states_in_their_order) {
    rig::stage s;
    event e;
    const job j = s.start(wait_for(e), "walk");
    EXPECT_EQ(j.state(), job_state::fresh);
    EXPECT_EQ(j.name(), "walk");
    EXPECT_TRUE(j.site().is_known());
    s.run();
    EXPECT_EQ(j.state(), job_state::active);
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(to_string(j.state()), "completed");
    EXPECT_TRUE(is_final(j.state()));
}

task<> lend(event& e, lease& out) {
    const job me = co_await this_job();
    out = detail::tree_access::adopt_lease(*detail::task_access::core_of(me));
    detail::task_access::core_of(me)->enter();
    co_await e.wait();
}

TEST(job, JOB_6_completing_while_a_lease_is_out_then_cancelling_then_the_value_counts) {
    rig::stage s;
    event e("e", true);
    lease held;
    const job j = s.play(lend(e, held));
    EXPECT_EQ(j.state(), job_state::completing);
    EXPECT_FALSE(j.is_finished());
    j.cancel();
    EXPECT_EQ(j.state(), job_state::cancelling);
    held.give_back();
    EXPECT_EQ(j.state(), job_state::completed) << "its body had returned before";
}

TEST(job, JOB_76_a_final_job_gives_no_lease) {
    rig::stage s;
    event e;
    const job j = s.play(wait_for(e));
    lease held = lease::try_take(j.tree_node());
    ASSERT_TRUE(held);
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completing);
    EXPECT_FALSE(lease::try_take(j.tree_node())) << "only members add work now";
    held.give_back();
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_FALSE(lease::try_take(j.tree_node()));
}

TEST(job, JOB_7_joiners_wake_once_each_in_order_of_arrival) {
    rig::stage s;
    event e;
    const job j = s.play(wait_for(e));
    std::vector<int> order;
    for (int i = 0; i < 32; ++i) {
        s.play(join_and_note(j, i, order));
    }
    EXPECT_TRUE(order.empty());
    e.set();
    s.run();
    ASSERT_EQ(order.size(), 32U);
    for (int i = 0; i < 32; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
    s.play(join_and_note(j, 99, order));
    EXPECT_EQ(order.back(), 99) << "joining a finished job completes at once";
}

TEST(job, JOB_7_a_cancelled_joiner_leaves_the_target_and_the_other_joiners_alone) {
    rig::stage s;
    event e;
    const job target = s.play(wait_for(e));
    std::vector<int> order;
    const job first = s.play(join_and_note(target, 1, order));
    s.play(join_and_note(target, 2, order));
    first.cancel();
    s.run();
    EXPECT_EQ(first.state(), job_state::cancelled);
    EXPECT_EQ(target.state(), job_state::active);
    e.set();
    s.run();
    EXPECT_EQ(order, std::vector<int>{2});
}

task<> lock_it(mutex& m) { auto held = co_await m.lock(); }
task<> cancel_and_join(scope& s, mutex& m, bool& done) {
    const job blocked = s.launch("blocked", lock_it(m));
    co_await yield();
    blocked.cancel();
    co_await blocked.join();
    done = true;
}
task<> run_cancel_and_join(mutex& m, bool& done) { co_await with_scope(cancel_and_join, std::ref(m), std::ref(done)); }

TEST(job, JOB_7_cancel_and_join_of_a_child_that_waits_for_a_lock_that_is_never_released_returns_promptly) {
    rig::stage s;
    mutex m;
    auto held = m.try_lock();
    bool done = false;
    s.play(run_cancel_and_join(m, done));
    EXPECT_TRUE(done);
}

task<> join_self(std::string& what) {
    const job me = co_await this_job();
    try {
        co_await me.join();
    } catch (const error& e) {
        what = e.what();
        EXPECT_EQ(e.kind(), errc::would_deadlock);
    }
}
task<> join_given(job other, bool& refused) {
    try {
        co_await other.join();
    } catch (const error& e) {
        refused = e.kind() == errc::would_deadlock;
    }
}
task<> child_joins_parent(scope& s, job parent, bool& refused) {
    s.launch("grandchild", join_given(parent, refused));
    co_return;
}
task<> join_ancestor(bool& refused) {
    const job me = co_await this_job();
    co_await with_scope(child_joins_parent, me, std::ref(refused));
}

TEST(job, JOB_8_joining_yourself_or_an_ancestor_is_an_error_that_names_both) {
    rig::stage s;
    std::string what;
    s.play(join_self(what), "narcissus");
    EXPECT_NE(what.find("'narcissus'"), std::string::npos) << what;
    bool refused = false;
    s.play(join_ancestor(refused));
    EXPECT_TRUE(refused);
}

TEST(job, JOB_11_dropping_a_job_changes_nothing) {
    rig::stage s;
    event e;
    bool done = false;
    {
        const job j = s.play(wait_for(e));
        static_cast<void>(j);
    }
    EXPECT_EQ(e.waiters_now(), 1U);
    e.set();
    s.run();
    static_cast<void>(done);
    EXPECT_EQ(e.waiters_now(), 0U);
}

TEST(job, JOB_26_cancel_says_whether_it_was_the_first_and_does_nothing_to_a_finished_job) {
    rig::stage s;
    event e;
    const job j = s.play(wait_for(e));
    EXPECT_TRUE(j.cancel(reason(reason_kind::shutdown, "first")));
    EXPECT_FALSE(j.cancel(reason(reason_kind::timeout, "second")));
    s.run();
    EXPECT_EQ(j.why().text(), "first");
    const job done = s.play(wait_for(*[] {
        static event set("set", true);
        return &set;
    }()));
    EXPECT_EQ(done.state(), job_state::completed);
    EXPECT_FALSE(done.cancel());
    EXPECT_EQ(done.state(), job_state::completed);
}

TEST(job, JOB_14_an_empty_job_reads_as_refused) {
    const job none;
    EXPECT_FALSE(none);
    EXPECT_TRUE(none.is_finished());
    EXPECT_EQ(none.state(), job_state::cancelled);
    EXPECT_EQ(none.why().kind(), reason_kind::closed);
    EXPECT_FALSE(none.cancel());
    EXPECT_TRUE(none.stop_requested() && none.cancel_requested() && none.is_cancelled());
}

class routed {
public:
    static inline std::vector<std::string> names;
    static inline job watched;
    static inline bool final_when_routed = false;
    static void sink(std::string_view, std::string_view name, site, std::exception_ptr) noexcept {
        names.emplace_back(name);
        final_when_routed = watched && watched.is_finished();
    }
};

TEST(job, JOB_15_the_failure_is_routed_before_the_state_is_final_and_before_joiners_wake) {
    routed::names.clear();
    const auto before = set_failure_sink(routed::sink);
    {
        rig::stage s;
        event e;
        routed::watched = s.play(fail_after_wait(e), "doomed");
        std::vector<int> order;
        s.play(join_and_note(routed::watched, 1, order));
        e.set();
        s.run();
        EXPECT_EQ(routed::names, std::vector<std::string>{"doomed"});
        EXPECT_FALSE(routed::final_when_routed);
        EXPECT_EQ(routed::watched.state(), job_state::failed);
        EXPECT_EQ(order, std::vector<int>{1});
        routed::watched = {};
    }
    set_failure_sink(before);
}

class order_number {
public:
    int n = 0;
};
task<> two_levels(scope& s, event& e, job& below) {
    below = s.launch("below", wait_for(e));
    co_await e.wait();
}
task<> run_two_levels(event& e, job& below) { co_await with_scope(two_levels, std::ref(e), std::ref(below)); }
task<> look_at_reason(deferred<int> d, int& got) {
    const auto ended = co_await as_outcome(std::move(d));
    if (const std::any* p = ended.why().payload()) {
        got = std::any_cast<const order_number&>(*p).n;
    }
}
task<int> never_an_int(event& e) {
    co_await e.wait();
    co_return 1;
}

TEST(job, JOB_46_KJB_11_the_payload_of_a_cancel_arrives_with_its_type_wherever_it_goes) {
    rig::stage s;
    event never;
    job below;
    const job j = s.play(run_two_levels(never, below));
    j.cancel(reason(reason_kind::requested, "order withdrawn", std::any(order_number{17})));
    s.run();
    for (const job& each : {j, below}) {
        ASSERT_EQ(each.state(), job_state::cancelled);
        ASSERT_NE(each.why().payload(), nullptr) << each.name();
        EXPECT_EQ(std::any_cast<const order_number&>(*each.why().payload()).n, 17);
        EXPECT_EQ(each.why().text(), "order withdrawn");
    }
    int got = 0;
    auto answer = s.root.async("answer", never_an_int(never));
    const job target = answer.as_job();
    s.play(look_at_reason(std::move(answer), got));
    target.cancel(reason(reason_kind::requested, "", std::any(order_number{18})));
    s.run();
    EXPECT_EQ(got, 18);
}

task<> work_in_one_go(job& self, int& steps, bool& after) {
    self.cancel();
    for (int i = 0; i < 10; ++i) {
        steps += self.cancel_requested() ? 1 : 0;  // nothing ends it here
    }
    co_await checkpoint();
    after = true;
}

TEST(job, JOB_94_a_cancel_takes_effect_at_awaits_and_nowhere_else) {
    rig::stage s;
    int steps = 0;
    bool after = false;
    job self;
    self = s.start(work_in_one_go(self, steps, after));
    s.run();
    EXPECT_EQ(steps, 10);
    EXPECT_FALSE(after);
    EXPECT_EQ(self.state(), job_state::cancelled);
}

TEST(job, JOB_95_a_token_is_set_by_a_cancel_from_above_and_can_be_waited_for) {
    rig::stage s;
    event never;
    job below;
    const job j = s.play(run_two_levels(never, below));
    const token seen(below.tree_node());
    EXPECT_FALSE(seen.cancel_requested());
    event told;
    const callback on_cancel(seen, level::cancel, s.executor, [&told] { told.set(); });
    EXPECT_FALSE(told.wait_blocking(now())) << "the time has passed";
    j.cancel();
    EXPECT_TRUE(seen.cancel_requested()) << "a grandchild's, before the call returns";
    s.run();
    EXPECT_TRUE(told.wait_blocking(now()));
    s.root.cancel();
    const job born = s.play(wait_for(never));
    EXPECT_TRUE(born.cancel_requested()) << "below one that is cancelled it is set at once";
}

TEST(job, JOB_7_a_joiner_that_is_cancelled_when_the_job_has_ended_goes_on) {
    rig::stage s;
    auto [answer, mine] = make_promise<int>(s.root, "target", external_cancel::abandon);
    std::vector<int> order;
    const job joiner = s.play(join_and_note(answer.as_job(), 1, order));
    mine.set_value(1);
    joiner.cancel();
    s.run();
    EXPECT_EQ(order, std::vector<int>{1}) << "the end has claimed the wait";
    EXPECT_EQ(joiner.state(), job_state::completed);
}

TEST(job, JOB_7_a_joiner_that_was_woken_and_never_runs_holds_nothing_up) {
    rig::stage s;
    auto [answer, mine] = make_promise<int>(s.root, "target", external_cancel::abandon);
    const job target = answer.as_job();
    std::vector<int> order;
    {
        detail::join_operation wait(detail::joiner(detail::task_access::core_of(target)));
        ASSERT_TRUE(wait.start(resume_target(nullptr, +[](work&) noexcept {}, {})));
        s.play(join_and_note(target, 1, order));
        mine.set_value(1);
    }
    s.run();
    EXPECT_EQ(order, std::vector<int>{1});
    EXPECT_EQ(target.state(), job_state::completed);
}

task<> cancelled_twice(scope& in, event& hold, job me, bool& first) {
    in.cancel(reason(reason_kind::requested, "the scope"));
    first = me.cancel(reason(reason_kind::requested, "the job"));
    co_await hold.wait();
}
task<> in_a_scope(event& hold, bool& first, bool as_data) {
    const job me = co_await this_job();
    if (as_data) {
        static_cast<void>(co_await as_outcome(with_scope(cancelled_twice, std::ref(hold), me, std::ref(first))));
    } else {
        co_await with_scope(cancelled_twice, std::ref(hold), me, std::ref(first));
    }
}
TEST(job, JOB_103_the_reason_of_a_cancelled_job_is_the_one_it_was_cancelled_with) {
    for (const bool as_data : {false, true}) {
        rig::stage s;
        event hold;
        bool first = false;
        const job j = s.play(in_a_scope(hold, first, as_data));
        EXPECT_TRUE(first) << "of the job";
        EXPECT_EQ(j.state(), job_state::cancelled);
        EXPECT_EQ(j.why().text(), "the job");
    }
}
task<> cancels_outer(scope& outer, event& hold, reason& got) {
    const auto inner = [](scope& in, scope& out, event& e) -> task<> {
        in.cancel(reason(reason_kind::requested, "inner"));
        out.cancel(reason(reason_kind::requested, "outer"));
        co_await e.wait();
    };
    static_cast<void>(got);
    co_await with_scope(inner, std::ref(outer), std::ref(hold));
}
task<> outcome_of_two(event& hold, reason& got) {
    const outcome<void> ended = co_await as_outcome(with_scope(cancels_outer, std::ref(hold), std::ref(got)));
    got = ended.why();
}
TEST(job, JOB_103_and_that_of_a_cancelled_scope_its_own) {
    rig::stage s;
    event hold;
    reason got;
    EXPECT_EQ(s.play(outcome_of_two(hold, got)).state(), job_state::completed);
    EXPECT_EQ(got.text(), "outer");
}

}  // namespace
