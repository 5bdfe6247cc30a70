// Deadlines and shields: the timer against the end of the body and against a cancel.
#include <roost/sync/event.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "model_timers.hpp"

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using model_rig::timed_executor;
using roost::testing::check;

task<int> wait_for(event& e) {
    co_await e.wait();
    co_return 1;
}
task<> limited(event& e, int& got, bool& late) {
    auto value = co_await move_on_after(std::chrono::hours(1), wait_for(e));
    if (value) {
        got = *value;
    } else {
        late = true;
    }
}

// JOB-17, JOB-20: the deadline passes while the body returns: exactly one of the two is told, and the timer is out of the way.
MODEL(inner_region_model, fire_vs_return) {
    timed_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int got = 0;
    bool late = false;
    const job j = root.launch("limited", limited(e, got, late));
    ex.inner.run_all();
    thread clock([&] {
        ex.clock.fire();
        ex.inner.wake();
    });
    e.set();
    run_until(ex.inner, [&] { return j.is_finished(); });
    clock.join();
    check((got == 1) != late, "JOB-20: in time or late, never both");
    check(j.state() == job_state::completed, "JOB-18: it moved on");
    finish(ex.inner, root);
}

task<int> look_and_return() {
    co_await checkpoint();
    co_return 1;
}
task<> limit_look(int& got, bool& late) {
    auto value = co_await move_on_after(std::chrono::hours(1), look_and_return());
    if (value) {
        got = *value;
    } else {
        late = true;
    }
}

// JOB-120: the body sees that the deadline has passed while its timer fires: it is cancelled once, and nothing is left.
MODEL(inner_region_model, look_vs_fire) {
    timed_executor ex;
    ex.clock.passes = true;
    owned_scope root(ex, scope_options("root").report_failures());
    int got = 0;
    bool late = false;
    const job j = root.launch("limited", limit_look(got, late));
    thread clock([&] {
        ex.clock.fire();
        ex.inner.wake();
    });
    run_until(ex.inner, [&] { return j.is_finished(); });
    clock.join();
    check(late && got == 0, "JOB-120: the clock decides, whichever thread reads it first");
    check(j.state() == job_state::completed, "JOB-18: it moved on");
    finish(ex.inner, root);
}

task<> shielded(event& e, int& got) { got = co_await shield(std::chrono::hours(1), wait_for(e)); }

// TASK-24: the budget is spent while the job is cancelled: the second of the two facts cancels the inside.
MODEL(inner_region_model, budget_vs_cancel) {
    timed_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int got = 0;
    const job j = root.launch("shielded", shielded(e, got));
    ex.inner.run_all();
    thread clock([&] {
        ex.clock.fire();
        ex.inner.wake();
    });
    j.cancel();
    run_until(ex.inner, [&] { return j.is_finished(); });
    clock.join();
    check(got == 0 && j.state() == job_state::cancelled, "TASK-24: the cancel came through");
    finish(ex.inner, root);
}

task<int> seen_from_inside(event& e, token& inside) {
    inside = co_await this_token();
    co_await e.wait();
    co_return 0;
}
task<> shielded_until(event& e, token& inside) { co_await shield(std::chrono::hours(1), seen_from_inside(e, inside)); }

// TASK-24: the thread that notes the second fact knows what the first was about: the inside learns why the outside was cancelled.
MODEL(inner_region_model, budget_knows_why) {
    timed_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    token inside;
    const job j = root.launch("shielded", shielded_until(e, inside));
    ex.inner.run_all();
    thread clock([&] {
        ex.clock.fire();
        ex.inner.wake();
    });
    j.cancel(reason::plain_kind(reason_kind::dropped));
    run_until(ex.inner, [&] { return j.is_finished(); });
    clock.join();
    check(inside.reason().kind() == reason_kind::dropped, "TASK-24: it is told why");
    inside = token();
    finish(ex.inner, root);
}

}  // namespace
