// The wait slot: a body that suspends, a wake and a cancel, in every order. Everything is the shipped code; the executor is
// run by the model's main thread.
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/tree/visit.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::explore_all;

// For what only old values show: two switches are enough, and without a bound the search would not come to them in time.
const roost::testing::options two_switches{.memory = roost::testing::memory::weak, .preemption_bound = 2};

task<> wait_once(event& e, int& passed) {
    co_await e.wait();
    ++passed;
}

// TASK-11: woken exactly once, and the thread that suspends it touches nothing once it may run on.
MODEL(region_model, wake_vs_commit) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    thread waker([&] {
        e.set();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    waker.join();
    check(passed == 1, "TASK-11: woken exactly once");
    finish(ex, root);
}

// TASK-30: a cancel at any moment ends the wait.
void cancel_vs_commit() {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    thread canceller([&] {
        j.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    canceller.join();
    check(passed == 0, "TASK-30: it did not go on");
    check(j.state() == job_state::cancelled, "TASK-30: it ended cancelled");
    check(static_cast<bool>(detail::task_access::core_of(j)->outcome_link().why()),
          "TASK-30: it knows why, whichever thread took it out of the wait");
    finish(ex, root);
}

TEST(region_model, cancel_vs_commit) { explore_all(cancel_vs_commit); }
TEST(region_model, cancel_vs_commit_with_old_values) { EXPECT_EXPLORED(two_switches, cancel_vs_commit); }

// TASK-30: the same from above: the job's own level is set in passing, without its lock.
void cancel_above_vs_commit() {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    thread canceller([&] {
        root.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    canceller.join();
    check(passed == 0 && j.state() == job_state::cancelled, "TASK-30: it did not go on");
    check(static_cast<bool>(detail::task_access::core_of(j)->outcome_link().why()), "TASK-30: it knows why");
    finish(ex, root);
}
TEST(region_model, cancel_above_vs_commit_with_old_values) {
    roost::testing::options often_old = two_switches;
    often_old.old_reads = 16;  // the level is read at every step of the unwinding: one new value would hide an old one
    EXPECT_EXPLORED(often_old, cancel_above_vs_commit);
}

// TASK-30: wake and cancel at once: exactly one of them decides.
MODEL(region_model, wake_vs_cancel) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    ex.run_all();
    thread waker([&] {
        e.set();
        ex.wake();
    });
    thread canceller([&] {
        j.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    waker.join();
    canceller.join();
    check((passed == 1) == (j.state() == job_state::completed), "TASK-30: either delivered or cancelled");
    finish(ex, root);
}

void look_at(const job& j) {
    detail::node& n = *detail::task_access::core_of(j);
    node_description d;
    n.functions().describe(n, d);
    check(d.waits_on.empty() || d.waits_on == "event 'e'", "JOB-51: it says what it waits on, or nothing");
}

// JOB-51: looking at what a body waits on does not hold up or lose its wake.
MODEL(region_model, peek_vs_wake) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e("e");
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    thread looker([&] {
        look_at(j);
        ex.wake();
    });
    ex.run_one();
    e.set();
    run_until(ex, [&] { return j.is_finished(); });
    looker.join();
    check(passed == 1, "TASK-11: woken exactly once");
    finish(ex, root);
}

// JOB-51: a cancel that comes during a peek is carried out by the peeking thread.
MODEL(region_model, peek_vs_cancel) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e("e");
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    ex.run_all();
    thread looker([&] {
        look_at(j);
        ex.wake();
    });
    j.cancel();
    run_until(ex, [&] { return j.is_finished(); });
    looker.join();
    check(passed == 0 && j.state() == job_state::cancelled, "TASK-30: it ended cancelled");
    finish(ex, root);
}

// TASK-30: the same with the cancel on another thread: the peeking thread passes the reason on.
void cancel_vs_peek() {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e("e");
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    ex.run_all();
    thread canceller([&] {
        j.cancel();
        ex.wake();
    });
    look_at(j);
    run_until(ex, [&] { return j.is_finished(); });
    canceller.join();
    check(passed == 0 && j.state() == job_state::cancelled, "TASK-30: it ended cancelled");
    check(static_cast<bool>(detail::task_access::core_of(j)->outcome_link().why()),
          "TASK-30: it knows why, whichever thread took it out of the wait");
    finish(ex, root);
}

// The reason is looked for at several places; none of them may have to hope that the next one sees it.
TEST(region_model, cancel_vs_peek) {
    roost::testing::options with_old_values = two_switches;
    with_old_values.old_reads = 8;
    EXPECT_EXPLORED(with_old_values, cancel_vs_peek);
}

// JOB-51: a cancel that came too late has marked the slot; a later peek still holds the woken body until it has left.
MODEL(region_model, peek_vs_wake_after_lost_cancel) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e("e");
    int passed = 0;
    const job j = root.launch("waits", wait_once(e, passed));
    ex.run_all();
    e.set();
    j.cancel();
    thread looker([&] {
        look_at(j);
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    looker.join();
    check(passed == 1, "TASK-11: woken exactly once");
    finish(ex, root);
}

task<> wait_in(scope& s, event& e, detail::node_ref<>& inner) {
    inner = detail::node_ref<>::share(detail::task_access::core_of(s));
    co_await e.wait();
}
task<> wait_twice(event& first, event& second, detail::node_ref<>& inner, int& passed) {
    const outcome<void> o = co_await as_outcome(with_scope(wait_in, std::ref(first), std::ref(inner)));
    static_cast<void>(o);
    co_await second.wait();
    ++passed;
}

// TASK-30: a body that is posted to unwind out of an inner scope, and the cancel of its job meanwhile: the next wait sees it.
MODEL(region_model, unwind_vs_cancel) {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event first;
    event second;
    detail::node_ref<> inner;
    int passed = 0;
    const job j = root.launch("waits", wait_twice(first, second, inner, passed));
    ex.run_all();
    thread inner_canceller([&] {
        inner->cancel();
        inner = {};
        ex.wake();
    });
    thread canceller([&] {
        j.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    inner_canceller.join();
    canceller.join();
    check(passed == 0, "TASK-30: it did not go on");
    check(j.state() == job_state::cancelled, "TASK-30: it ended cancelled");
    finish(ex, root);
}

// A wait that does not look at the level: the slot alone tells it.
class bare_wait {
public:
    class awaiter : private detail::cancellable {
    public:
        explicit awaiter(detail::promise_base& me) noexcept : cancellable(me, functions) {}
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) noexcept {
            detail::promise_base& me = frame();
            if (me.region().commit(*this)) {
                detail::unwind_frame(me);
            }
        }
        void await_resume() const noexcept {}

    private:
        static bool is_always_there(cancellable&) noexcept { return true; }
        static wait_target no_name(const cancellable&) noexcept { return {}; }
        static constexpr detail::wait_functions functions{is_always_there, no_name};
    };
    [[nodiscard]] awaiter in_task(detail::promise_base& me) const noexcept { return awaiter(me); }
};
task<> wait_and_wait_barely(event& first, detail::node_ref<>& inner, int& passed) {
    const outcome<void> o = co_await as_outcome(with_scope(wait_in, std::ref(first), std::ref(inner)));
    static_cast<void>(o);
    co_await bare_wait();
    ++passed;
}

// TASK-30: the same from above, where nothing but the slot tells the body: what it reads of its level may be old.
void unwind_vs_cancel_from_above() {
    roost::testing::manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event first;
    detail::node_ref<> inner;
    int passed = 0;
    const job j = root.launch("waits", wait_and_wait_barely(first, inner, passed));
    ex.run_all();
    thread canceller([&] {
        root.cancel();
        ex.wake();
    });
    inner->cancel();
    inner = {};
    run_until(ex, [&] { return j.is_finished(); });
    canceller.join();
    check(passed == 0, "TASK-30: it did not go on");
    check(j.state() == job_state::cancelled, "TASK-30: it ended cancelled");
    finish(ex, root);
}
TEST(region_model, unwind_vs_cancel_from_above) { EXPECT_EXPLORED(two_switches, unwind_vs_cancel_from_above); }

}  // namespace
