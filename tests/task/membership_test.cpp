// Members of a scope: what they may do while it closes, and what no member may do.
#include <roost/base/error.hpp>
#include <roost/flow/closing_executor.hpp>
#include <roost/flow/select.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/this_task.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

namespace {

// The results of asking a scope for a child, a bridge and a lease.
class asked {
public:
    job child;
    bool bridged = false;
    bool leased = false;
};

task<> wait_for(event& e) { co_await e.wait(); }
task<> count_one(int& count) {
    ++count;
    co_return;
}
void ask(scope& s, int& count, asked& got) {
    got.child = s.launch("asked for", count_one(count));
    auto [answer, promise] = make_promise<int>(s, "bridge", external_cancel::abandon);
    got.bridged = answer && promise;
    if (promise) {
        promise.set_value(1);
    }
    const lease held = s.lease();
    got.leased = static_cast<bool>(held);
}
task<> ask_after(scope& s, event& e, int& count, asked& got) {
    co_await e.wait();
    ask(s, count, got);
}
task<> ask_below_after(scope&, scope& s, event& e, int& count, asked& got) { return ask_after(s, e, count, got); }
task<> ask_from_further_down(scope& s, event& e, int& count, asked& got) {
    co_await with_scope(ask_below_after, std::ref(s), std::ref(e), std::ref(count), std::ref(got));
}

void expect_all(const asked& got, int count) {
    EXPECT_EQ(got.child.state(), job_state::completed);
    EXPECT_TRUE(got.bridged);
    EXPECT_TRUE(got.leased);
    EXPECT_EQ(count, 1);
}
void expect_nothing(const asked& got, int count) {
    EXPECT_FALSE(got.child);
    EXPECT_FALSE(got.bridged);
    EXPECT_FALSE(got.leased);
    EXPECT_EQ(count, 0);
}

// --- members and outsiders of a closing scope ------------------------------------------------------------------------------

task<> leave_one_that_asks(scope& s, event& e, int& count, asked& got) {
    s.launch("asks", ask_after(s, e, count, got));
    co_return;
}
task<> run_one_that_asks(event& e, int& count, asked& got) {
    co_await with_scope(leave_one_that_asks, std::ref(e), std::ref(count), std::ref(got));
}

TEST(membership, JOB_90_a_child_starts_others_after_the_body_has_returned) {
    rig::stage s;
    event e;
    int count = 0;
    asked got;
    const job j = s.play(run_one_that_asks(e, count, got));
    EXPECT_FALSE(j.is_finished());
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completed);
    expect_all(got, count);
}

TEST(membership, JOB_90_a_child_of_an_owned_scope_starts_others_while_that_closes) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event e;
    int count = 0;
    asked got;
    o.launch("asks", ask_after(o, e, count, got));
    const job closer = s.play(o.close());
    EXPECT_FALSE(closer.is_finished());
    e.set();
    s.run();
    EXPECT_TRUE(closer.is_finished());
    EXPECT_TRUE(o.is_closed());
    expect_all(got, count);
}

TEST(membership, JOB_90_a_job_below_a_closing_root_starts_others_in_it) {
    rig::stage s;
    owned_scope root(s.executor, scope_options("requests").report_failures());
    event e;
    int count = 0;
    asked got;
    root.launch("asks", ask_from_further_down(root, e, count, got));
    s.run();
    root.request_close();
    EXPECT_FALSE(root.is_closed());
    e.set();
    s.run();
    EXPECT_TRUE(root.is_closed());
    expect_all(got, count);
}

TEST(membership, JOB_90_outsiders_of_a_closing_scope_get_nothing) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    event e;
    o.launch("holds it open", wait_for(e));
    s.play(o.close());
    int count = 0;
    asked plain;
    ask(o, count, plain);
    expect_nothing(plain, count);
    asked elsewhere;
    event now("now", true);
    s.play(ask_after(o, now, count, elsewhere));
    expect_nothing(elsewhere, count);
    e.set();
    s.run();
    EXPECT_TRUE(o.is_closed());
}

TEST(membership, JOB_90_a_closed_scope_returns_no_lease) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    o.close_blocking();
    int count = 0;
    asked of_owned;
    ask(o, count, of_owned);
    expect_nothing(of_owned, count);
    EXPECT_FALSE(detail::task_access::core_of(o).has_work());
    owned_scope root(s.executor, scope_options("requests").report_failures());
    root.request_close();
    asked of_root;
    ask(root, count, of_root);
    expect_nothing(of_root, count);
    EXPECT_FALSE(detail::task_access::core_of(root).has_work());
}

// --- waiting from inside ---------------------------------------------------------------------------------------------------

task<> refused_as_own(task<> t, std::string& what) {
    try {
        co_await std::move(t);
    } catch (const error& e) {
        what = e.kind() == errc::would_deadlock ? e.what() : "another error";
    }
}
task<> wait_for_root(owned_scope& root) { co_await root.join(); }
task<> select_root(owned_scope& root, event& never) { static_cast<void>(co_await select(never.wait(), root.join())); }
task<> close_inside(scope&, owned_scope& o) { co_await o.close(); }
task<> close_from_further_down(owned_scope& o) { co_await with_scope(close_inside, std::ref(o)); }

TEST(membership, JOB_91_a_child_that_closes_its_owned_scope_is_told_and_the_scope_stays_open) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    std::string direct;
    std::string below;
    o.launch("suicidal", refused_as_own(o.close(), direct));
    o.launch("further down", refused_as_own(close_from_further_down(o), below));
    s.run();
    EXPECT_NE(direct.find("'suicidal'"), std::string::npos) << direct;
    EXPECT_NE(direct.find("'feed'"), std::string::npos) << direct;
    EXPECT_NE(below.find("'feed'"), std::string::npos) << below;
    EXPECT_FALSE(detail::task_access::core_of(o).is_closing()) << "nothing has happened";
    s.play(o.close());
    EXPECT_TRUE(o.is_closed());
}

TEST(membership, JOB_91_a_job_that_joins_the_root_it_runs_in_is_told) {
    rig::stage s;
    owned_scope root(s.executor, scope_options("requests").report_failures());
    event never;
    std::string what;
    std::string selected;
    root.launch("suicidal", refused_as_own(wait_for_root(root), what));
    root.launch("selects", refused_as_own(select_root(root, never), selected));
    s.run();
    EXPECT_NE(what.find("'suicidal'"), std::string::npos) << what;
    EXPECT_NE(what.find("'requests'"), std::string::npos) << what;
    EXPECT_NE(selected.find("'requests'"), std::string::npos) << selected;
    const job other = s.play(wait_for_root(root));
    EXPECT_FALSE(other.is_finished());
    root.request_close();
    s.run();
    EXPECT_EQ(other.state(), job_state::completed) << "somebody else may wait for it";
}

task<> send_to(closing_executor& own, task<> t) { co_await on(own, std::move(t)); }

TEST(membership, JOB_91_what_runs_on_a_closing_executor_cannot_wait_for_its_end) {
    rig::stage s;
    closing_executor own(s.executor, "own");
    std::string child;
    std::string guest;
    own.launch("child", refused_as_own(own.close(), child));
    s.play(send_to(own, refused_as_own(own.close(), guest)), "guest");
    EXPECT_NE(child.find("'child'"), std::string::npos) << child;
    EXPECT_NE(guest.find("'guest'"), std::string::npos) << guest;
    EXPECT_FALSE(own.observe().cancel_requested()) << "nothing has happened";
    s.play(own.close());
    EXPECT_TRUE(own.is_closed());
}

TEST(membership, JOB_91_nor_can_what_was_sent_there_from_a_job_that_runs_there) {
    rig::stage s;
    closing_executor own(s.executor, "own");
    owned_scope root(own, scope_options("requests").report_failures());
    std::string guest;
    root.launch("guest", send_to(own, refused_as_own(own.close(), guest)));
    s.run();
    EXPECT_NE(guest.find("'guest'"), std::string::npos) << guest;
    EXPECT_FALSE(own.observe().cancel_requested()) << "nothing has happened";
    root.request_close();
    s.play(own.close());
    EXPECT_TRUE(own.is_closed());
}

task<> send_plainly(closing_executor& own, task<> t) { co_await on(executor_ref(own), std::move(t)); }

TEST(membership, JOB_91_what_only_runs_there_may_wait_for_its_end) {
    rig::stage s;
    closing_executor own(s.executor, "own");
    const job j = s.play(send_plainly(own, own.close()));
    EXPECT_EQ(j.state(), job_state::completed) << "it is not bound to it";
    EXPECT_TRUE(own.is_closed());
}

// --- blocking a thread that has to do the work -----------------------------------------------------------------------------

task<> call(std::function<void()> fn) {
    fn();
    co_return;
}
class call_work final : public work {
public:
    explicit call_work(std::function<void()> fn) : work(run_it), fn_(std::move(fn)) {}

private:
    static void run_it(work& self) noexcept { static_cast<call_work&>(self).fn_(); }
    std::function<void()> fn_;
};

TEST(membership, JOB_92_blocking_for_what_has_ended_is_allowed_anywhere) {
    rig::stage s;
    owned_scope o(s.executor, "feed");
    owned_scope root(s.executor, scope_options("requests").report_failures());
    root.request_close();
    const job j = s.play(call([&] {
        root.close_blocking();
        o.close_blocking();
    }));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_TRUE(o.is_closed());
}

TEST(membership, JOB_92_an_inline_executor_has_no_threads_to_block) {
    inline_executor here;
    owned_scope root(here, scope_options("requests").report_failures());
    event e;
    root.launch("waits", wait_for(e));
    root.request_close();
    thread setter([&] { e.set(); });
    root.close_blocking();
    setter.join();
    EXPECT_TRUE(root.is_closed());
}

using membership_death = ::testing::Test;

TEST(membership_death, JOB_92_a_job_that_blocks_until_its_root_has_ended_ends_the_program) {
    EXPECT_DEATH(
        {
            rig::manual ex;
            owned_scope root(ex, scope_options("requests").report_failures());
            root.launch("blocks", call([&] { root.close_blocking(); }));
            ex.run();
        },
        "'requests'.*close_blocking.*inside job 'blocks'");
}

TEST(membership_death, JOB_92_so_does_a_job_that_closes_an_owned_scope_or_executor_with_work) {
    EXPECT_DEATH(
        {
            rig::manual ex;
            event never;
            owned_scope root(ex, scope_options("requests").report_failures());
            owned_scope o(ex, "feed");
            o.launch("waits", wait_for(never));
            root.launch("blocks", call([&] { o.close_blocking(); }));
            ex.run();
        },
        "'feed'.*close_blocking.*inside job 'blocks'");
    EXPECT_DEATH(
        {
            rig::manual ex;
            event never;
            owned_scope root(ex, scope_options("requests").report_failures());
            closing_executor own(ex, "own");
            own.launch("waits", wait_for(never));
            root.launch("blocks", call([&] { own.close_blocking(); }));
            ex.run();
        },
        "'own'.*close_blocking.*inside job 'blocks'");
}

TEST(membership_death, JOB_92_so_does_other_work_on_a_thread_of_the_executor) {
    EXPECT_DEATH(
        {
            rig::manual ex;
            event never;
            owned_scope root(ex, scope_options("requests").report_failures());
            root.launch("waits", wait_for(never));
            call_work blocks([&] { root.close_blocking(); });
            ex.post(blocks);
            ex.run();
        },
        "'requests'.*close_blocking.*on a thread of executor 'rig'");
}

// --- after the last job ----------------------------------------------------------------------------------------------------

// A coroutine that knows no executor: it is resumed where it is woken.
class fire {
public:
    class promise_type {
    public:
        fire get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
fire look_when_ended(owned_scope& root, bool& in_no_job, bool& refused) {
    co_await root.join();
    in_no_job = !current_job();
    int count = 0;
    refused = !root.launch("late", count_one(count));
}

TEST(membership, TASK_7_a_coroutine_resumed_by_the_end_of_a_root_runs_in_no_job) {
    rig::stage s;
    owned_scope root(s.executor, scope_options("requests").report_failures());
    int count = 0;
    bool in_no_job = false;
    bool refused = false;
    root.launch("last", count_one(count));
    root.request_close();
    look_when_ended(root, in_no_job, refused);
    s.run();
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(in_no_job) << "the last job has ended";
    EXPECT_TRUE(refused);
}

task<> leave_one_that_waits(scope& s, event& e, scope*& out) {
    out = &s;
    s.launch("holds it open", wait_for(e));
    co_return;
}
task<> run_one_that_waits(event& e, scope*& out) { co_await with_scope(leave_one_that_waits, std::ref(e), std::ref(out)); }

TEST(membership, JOB_90_outsiders_get_nothing_of_a_with_scope_whose_body_has_returned) {
    rig::stage s;
    event e;
    scope* inner = nullptr;
    const job j = s.play(run_one_that_waits(e, inner));
    ASSERT_NE(inner, nullptr);
    EXPECT_FALSE(j.is_finished());
    int count = 0;
    asked plain;
    ask(*inner, count, plain);
    expect_nothing(plain, count);
    asked elsewhere;
    event now("now", true);
    s.play(ask_after(*inner, now, count, elsewhere));
    expect_nothing(elsewhere, count);
    e.set();
    s.run();
    EXPECT_EQ(j.state(), job_state::completed);
}

fire look_when_joined(job waited_for, owned_scope& root, bool& in_no_job, int& count) {
    co_await waited_for.join();
    in_no_job = !current_job();
    waited_for = {};
    root.launch("next", count_one(count), start::immediate);
}

TEST(membership, TASK_7_a_coroutine_resumed_by_the_end_of_a_job_runs_in_no_job) {
    rig::stage s;
    int count = 0;
    int next = 0;
    bool in_no_job = false;
    look_when_joined(s.root.launch("last", count_one(count)), s.root, in_no_job, next);
    s.run();
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(in_no_job) << "the job has ended";
    EXPECT_EQ(next, 1);
}

}  // namespace
