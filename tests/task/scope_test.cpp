#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::ext;

namespace {

task<> wait_then(event& e, int& count) {
    co_await e.wait();
    ++count;
}
task<int> three_children(scope& s, event& e, int& count) {
    s.launch("a", wait_then(e, count));
    s.launch("b", wait_then(e, count));
    s.launch("c", wait_then(e, count));
    co_return 7;
}
task<> run_three(event& e, int& count, int& got) { got = co_await with_scope(three_children, std::ref(e), std::ref(count)); }

TEST(scope, JOB_1_leaving_a_scope_waits_for_every_child) {
    rig::stage s;
    event e;
    int count = 0;
    int got = 0;
    const job j = s.play(run_three(e, count, got));
    EXPECT_EQ(got, 0);
    e.set();
    s.run();
    EXPECT_EQ(count, 3);
    EXPECT_EQ(got, 7);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> nothing_in_it(scope&) { co_return; }
task<> run_nothing(bool& done) {
    co_await with_scope(nothing_in_it);
    done = true;
}

TEST(scope, JOB_1_a_scope_without_children_ends_at_once) {
    rig::stage s;
    bool done = false;
    const job j = s.start(run_nothing(done));
    EXPECT_TRUE(s.executor.run_one());
    EXPECT_TRUE(done) << "no detour over the executor";
    EXPECT_EQ(j.state(), job_state::completed);
}

class first_error : public std::runtime_error {
public:
    first_error() : std::runtime_error("first") {}
};

task<> fail_at_once() {
    throw first_error();
    co_return;
}
task<> fail_in_turn(event& e, const char* what) {
    co_await e.wait();
    throw std::runtime_error(what);
}
task<> failing_sibling(scope& s, event& never, int& count) {
    s.launch("waits", wait_then(never, count));
    s.launch("fails", fail_at_once());
    co_await never.wait();
    count = 100;
}
task<> catch_first(event& never, int& count, std::string& what) {
    try {
        co_await with_scope(failing_sibling, std::ref(never), std::ref(count));
    } catch (const first_error& e) {
        what = e.what();
    }
}

TEST(scope, JOB_2_the_first_failure_cancels_body_and_siblings_and_is_rethrown_with_its_type) {
    rig::stage s;
    event never;
    int count = 0;
    std::string what;
    const job j = s.play(catch_first(never, count, what));
    EXPECT_EQ(what, "first");
    EXPECT_EQ(count, 0);
    EXPECT_EQ(never.waiters_now(), 0U);
    EXPECT_EQ(j.state(), job_state::completed);
}

// One of three children throws before it first suspends; the body waits or has returned.
task<> one_of_three_fails(scope& s, event& never, int& count, int which, start how, bool body_waits,
                          std::vector<job>& jobs) {
    for (int i = 0; i < 3; ++i) {
        jobs.push_back(i == which ? s.launch("fails", fail_at_once(), how) : s.launch("waits", wait_then(never, count)));
    }
    if (body_waits) {
        co_await never.wait();
        count = 100;
    }
}
task<> catch_one_of_three(event& never, int& count, int which, start how, bool body_waits, std::vector<job>& jobs,
                          bool& caught) {
    try {
        co_await with_scope(one_of_three_fails, std::ref(never), std::ref(count), which, how, body_waits, std::ref(jobs));
    } catch (const first_error&) {
        caught = true;
    }
}

TEST(scope, JOB_2_whatever_the_order_in_which_the_children_were_started) {
    for (int round = 0; round < 12; ++round) {
        const int which = round % 3;
        const start how = round / 3 % 2 == 0 ? start::scheduled : start::immediate;
        const bool body_waits = round < 6;
        rig::stage s;
        event never;
        int count = 0;
        bool caught = false;
        std::vector<job> jobs;
        const job j = s.play(catch_one_of_three(never, count, which, how, body_waits, jobs, caught));
        EXPECT_EQ(j.state(), job_state::completed) << "round " << round << ": it ends without anybody's help";
        EXPECT_TRUE(caught) << "round " << round;
        EXPECT_EQ(count, 0) << "round " << round;
        EXPECT_EQ(never.waiters_now(), 0U) << "round " << round;
        ASSERT_EQ(jobs.size(), 3U);
        for (int i = 0; i < 3; ++i) {
            const job& child = jobs[static_cast<std::size_t>(i)];
            EXPECT_EQ(child.state(), i == which ? job_state::failed : job_state::cancelled)
                << "round " << round << ", child " << i;
            EXPECT_EQ(child.why().kind(), i == which ? reason_kind::none : reason_kind::failure)
                << "round " << round << ", child " << i;
        }
    }
}

task<> body_fails(scope& s, event& never, int& count) {
    s.launch("waits", wait_then(never, count));
    co_await yield();
    throw first_error();
}
task<> catch_body(event& never, int& count, std::string& what) {
    try {
        co_await with_scope(body_fails, std::ref(never), std::ref(count));
    } catch (const first_error& e) {
        what = e.what();
    }
}

TEST(scope, JOB_2_a_failing_body_cancels_its_children) {
    rig::stage s;
    event never;
    int count = 0;
    std::string what;
    s.play(catch_body(never, count, what));
    EXPECT_EQ(what, "first");
    EXPECT_EQ(count, 0);
}

// A child that fails although it is being cancelled: its failure is a further one.
task<> fail_late(event& e, const char* what) {
    const job me = co_await this_job();
    auto ended = co_await as_outcome(fail_in_turn(e, what));
    static_cast<void>(me);
    std::rethrow_exception(ended.error());
}
task<> several_failures(scope& s, event& e) {
    s.launch("one", fail_late(e, "one"));
    s.launch("two", fail_late(e, "two"));
    s.launch("three", fail_late(e, "three"));
    co_await yield();
    e.set();
    co_return;
}
task<> collect_failures(event& e, std::vector<std::string>& all) {
    auto ended = co_await as_outcome(with_scope(several_failures, std::ref(e)));
    auto text = [](const std::exception_ptr& p) -> std::string {
        try {
            std::rethrow_exception(p);
        } catch (const std::exception& x) {
            return x.what();
        }
    };
    all.push_back(text(ended.error()));
    for (const auto& other : ended.others()) {
        all.push_back(text(other));
    }
}

TEST(scope, JOB_3_further_failures_are_kept_in_order_beside_the_first) {
    rig::stage s;
    event e;
    std::vector<std::string> all;
    const job j = s.play(collect_failures(e, all));
    EXPECT_EQ(all, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_TRUE(j.others().empty()) << "as_outcome has taken them";
}

task<> one_is_cancelled(scope& s, event& e, int& count) {
    const job a = s.launch("a", wait_then(e, count));
    s.launch("b", wait_then(e, count));
    a.cancel();
    co_await a.join();
    e.set();
}
task<> run_one_cancelled(event& e, int& count) { co_await with_scope(one_is_cancelled, std::ref(e), std::ref(count)); }

TEST(scope, JOB_5_a_child_that_is_cancelled_by_itself_is_no_failure) {
    rig::stage s;
    event e;
    int count = 0;
    const job j = s.play(run_one_cancelled(e, count));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> cancel_own_scope(scope& s, event& never, int& count) {
    s.launch("waits", wait_then(never, count));
    s.cancel(reason(reason_kind::requested, "enough"));
    co_await never.wait();
    count = 100;
}
task<> observe_scope(event& never, int& count, std::string& why, bool& went_on) {
    auto ended = co_await as_outcome(with_scope(cancel_own_scope, std::ref(never), std::ref(count)));
    why = ended.why().text();
    went_on = true;
}

TEST(scope, JOB_27_a_scope_that_cancels_itself_ends_cancelled_which_as_outcome_sees) {
    rig::stage s;
    event never;
    int count = 0;
    std::string why;
    bool went_on = false;
    s.play(observe_scope(never, count, why, went_on));
    EXPECT_TRUE(went_on);
    EXPECT_EQ(why, "enough");
    EXPECT_EQ(count, 0);
}

task<int> cancel_own_scope_and_return(scope& s, event& never, int& count) {
    s.launch("waits", wait_then(never, count));
    s.cancel();
    co_return 5;
}
task<> take_from_scope(event& never, int& count, int& got) {
    got = co_await with_scope(cancel_own_scope_and_return, std::ref(never), std::ref(count));
}
TEST(scope, JOB_27_a_value_that_its_body_returns_without_another_await_survives) {
    rig::stage s;
    event never;
    int count = 0;
    int got = 0;
    EXPECT_EQ(s.play(take_from_scope(never, count, got)).state(), job_state::completed);
    EXPECT_EQ(got, 5);
    EXPECT_EQ(count, 0) << "the child was cancelled";
}

task<> uncancellable_child(event& e, int& count) {
    const job me = co_await this_job();
    co_await e.wait();
    ++count;
    static_cast<void>(me);
}
task<> nested(scope& s, event& e, int& count) {
    s.launch("child", uncancellable_child(e, count));
    co_await e.wait();
}
task<> run_nested(event& e, int& count) { co_await with_scope(nested, std::ref(e), std::ref(count)); }

TEST(scope, JOB_1_cancelling_the_job_reaches_body_and_children_and_it_ends_after_them) {
    rig::stage s;
    event e;
    int count = 0;
    const job j = s.play(run_nested(e, count));
    j.cancel();
    EXPECT_FALSE(j.is_finished());
    s.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(count, 0);
}

task<> take_lease(scope& s, lease& out) {
    out = s.lease();
    co_return;
}
task<> run_lease(lease& out, bool& done) {
    co_await with_scope(take_lease, std::ref(out));
    done = true;
}

TEST(scope, JOB_16_a_lease_keeps_the_scope_open_and_giving_it_back_resumes_nothing_inline) {
    rig::stage s;
    lease held;
    bool done = false;
    s.play(run_lease(held, done));
    EXPECT_FALSE(done);
    held.give_back();
    EXPECT_FALSE(done) << "the completion is scheduled, never run inside the releasing call";
    s.run();
    EXPECT_TRUE(done);
}

task<> note(std::string& log, char c) {
    log.push_back(c);
    co_await yield();
    log.push_back(c);
}
task<> start_both_ways(scope& s, std::string& log) {
    s.launch("scheduled", note(log, 's'));
    s.launch("immediate", note(log, 'i'), start::immediate);
    const job me = co_await this_job();
    EXPECT_EQ(current_job(), me) << "restored after the immediate start";
    log.push_back('b');
}
task<> run_both_ways(std::string& log) { co_await with_scope(start_both_ways, std::ref(log)); }

TEST(scope, JOB_13_scheduled_never_runs_inside_the_call_immediate_does_on_the_executor) {
    rig::stage s;
    std::string log;
    s.play(run_both_ways(log));
    EXPECT_EQ(log.substr(0, 3), "ibs");
    EXPECT_EQ(log.size(), 5U);
}

TEST(scope, JOB_13_immediate_is_scheduled_where_the_call_is_not_made_on_the_executor) {
    rig::stage s;
    std::string log;
    const job j = s.root.launch("immediate", note(log, 'i'), start::immediate);
    EXPECT_EQ(log, "");
    s.run();
    EXPECT_EQ(log, "ii");
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> mark(bool& ran, rig::tracked) {
    ran = true;
    co_return;
}
task<> launch_when_cancelled(scope& s, int& alive, int& alive_after, bool& ran, bool& always_ran, job& born) {
    s.cancel();
    born = s.launch("born cancelled", mark(ran, rig::tracked(alive)));
    alive_after = alive;
    s.launch("always", mark(always_ran, rig::tracked(alive)), start::always);
    co_return;
}
task<> run_cancelled_scope(int& alive, int& alive_after, bool& ran, bool& always_ran, job& born) {
    co_await with_scope(launch_when_cancelled, std::ref(alive), std::ref(alive_after), std::ref(ran), std::ref(always_ran),
                        std::ref(born));
}

TEST(scope, JOB_12_a_child_of_a_cancelled_scope_is_not_run_and_its_arguments_die_on_the_caller) {
    rig::stage s;
    int alive = 0;
    int alive_after = -1;
    bool ran = false;
    bool always_ran = false;
    job born;
    const job j = s.play(run_cancelled_scope(alive, alive_after, ran, always_ran, born));
    EXPECT_EQ(alive_after, 0);
    EXPECT_FALSE(ran);
    EXPECT_EQ(born.state(), job_state::cancelled);
    EXPECT_TRUE(always_ran) << "start::always takes over what it was given";
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(j.state(), job_state::completed) << "the body returned without another await";
}

task<> plain_function(scope& s, event& never, int& count) {
    s.launch("waits", wait_then(never, count));
    throw first_error();
}
task<> run_plain(event& never, int& count, bool& caught) {
    try {
        co_await with_scope(plain_function, std::ref(never), std::ref(count));
    } catch (const first_error&) {
        caught = true;
    }
}

TEST(scope, JOB_2_a_callable_that_throws_instead_of_returning_a_task_fails_the_scope) {
    rig::stage s;
    event never;
    int count = 0;
    bool caught = false;
    s.play(run_plain(never, count, caught));
    EXPECT_TRUE(caught);
    EXPECT_EQ(count, 0);
}

task<> nest(scope& s, int depth, int& deepest);
task<> nest_more(int depth, int& deepest) { co_await with_scope(nest, depth, std::ref(deepest)); }
task<> nest(scope& s, int depth, int& deepest) {
    if (depth > deepest) {
        deepest = depth;
    }
    if (depth < 1000) {
        if (depth % 2 == 0) {
            s.launch("deeper", nest_more(depth + 1, deepest));
        } else {
            co_await nest_more(depth + 1, deepest);
        }
    }
}

TEST(scope, JOB_28_scopes_nest_a_thousand_deep) {
    rig::stage s;
    int deepest = 0;
    const job j = s.play(nest_more(1, deepest));
    EXPECT_EQ(deepest, 1000);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> throw_in_a_cancelled_scope(scope& s) {
    s.cancel();
    throw std::runtime_error("original");
    co_return;
}
task<> leave_cancelled_scope(std::string& log) {
    try {
        co_await with_scope(throw_in_a_cancelled_scope);
    } catch (const std::runtime_error& e) {
        log = e.what();
    }
}

// Leaving a scope is no hidden checkpoint: the error that was thrown arrives although the scope was cancelled.
TEST(scope, TASK_12_an_error_thrown_in_a_cancelled_scope_arrives) {
    rig::stage s;
    std::string log;
    const job j = s.play(leave_cancelled_scope(log));
    EXPECT_EQ(log, "original");
    EXPECT_EQ(j.state(), job_state::completed);
}

}  // namespace
