// The end of a scope: who takes the last unit, and who may free what.
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/scope_core.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::manual_executor;

// For three threads: every way with at most two preemptions. Given a minute; in five seconds it may see a part of them.
const roost::testing::options two_switches{.memory = roost::testing::memory::weak, .preemption_bound = 2};

task<int> lend(scope& s, lease& out) {
    out = s.lease();
    co_return 7;
}
task<> with_lease(lease& out, int& got) { got = co_await with_scope(lend, std::ref(out)); }

// JOB-16: the last unit goes on another thread while the body returns and a cancel comes from outside.
MODEL(scope_core_model, last_child_vs_body) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    lease held;
    int got = 0;
    const job j = root.launch("outer", with_lease(held, got));
    ex.run_one();
    thread giver([&] {
        held.give_back();
        ex.wake();
    });
    thread canceller([&] {
        j.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    giver.join();
    canceller.join();
    check(got == 7, "TASK-12: the body had returned its value");
    check(j.state() == job_state::completed, "JOB-16: it is delivered");
    finish(ex, root);
}

task<int> lend_and_wait(scope& s, lease& out, event& go) {
    out = s.lease();
    co_await go.wait();
    co_return 7;
}
task<> until_given_back(lease& out, event& go, plain<int>& note, int& got) {
    // Read before the end of the statement: there the scope is let go, which would carry it as well.
    const int seen = (got = co_await with_scope(lend_and_wait, std::ref(out), std::ref(go)), note.get());
    check(seen == 1, "TREE-29: whoever comes out of a scope sees what was done in it");
}

void give_back_last_unit(bool runs_what_was_posted) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    lease held;
    event go;
    plain<int> note{0};
    int got = 0;
    const job j = root.launch("outer", until_given_back(held, go, note, got));
    ex.run_all();
    go.set();
    thread giver([&] {
        note.set(1);
        held.give_back();
        if (runs_what_was_posted) {
            ex.run_all();
        }
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    giver.join();
    check(got == 7 && j.state() == job_state::completed, "JOB-1: it ends once");
    finish(ex, root);
}

// JOB-1: the last unit goes while the body returns: one of the two goes on, and sees what the other did.
MODEL(scope_core_model, last_unit_vs_return) { give_back_last_unit(false); }

// TREE-29: the same, and who frees the scope's block may be another thread than the one that ended its body.
MODEL(scope_core_model, last_unit_goes_on_elsewhere) { give_back_last_unit(true); }

task<> count_one(int& count) {
    ++count;
    co_return;
}
task<int> make(event& e) {
    co_await e.wait();
    co_return 1;
}

task<int> child_of(scope& s, event& e, event& go) {
    auto d = s.async("child", make(e));
    co_await go.wait();
    const int got = co_await std::move(d);
    co_return got;
}
task<> parent_of(event& e, event& go, int& got) { got = co_await with_scope(child_of, std::ref(e), std::ref(go)); }

// JOB-1: the body waits for its child while that is woken and a cancel comes: the scope ends once, after its child.
MODEL(scope_core_model, awaited_child_vs_cancel) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    event go("go", true);
    int got = 0;
    const job j = root.launch("parent", parent_of(e, go, got));
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
    check((got == 1) == (j.state() == job_state::completed), "JOB-1: value or cancelled");
    finish(ex, root);
}

// Checks, when the body of the parent goes on or is unwound, that the scope it comes out of has no child left.
class after_child {
public:
    explicit after_child(const job& child) noexcept : child_(&child) {}
    after_child(const after_child&) = delete;
    after_child& operator=(const after_child&) = delete;
    ~after_child() { check(child_->is_finished(), "JOB-1: a scope ends after its last child"); }

private:
    const job* child_;
};
task<int> return_before(scope& s, promise<int>& out, job& child, event& go) {
    auto [answer, mine] = make_promise<int>(s, "child", external_cancel::uninterruptible);
    answer.keep();
    child = answer.as_job();
    out = std::move(mine);
    co_await go.wait();
    co_return 7;
}
task<> outlived_by_child(promise<int>& out, job& child, event& go, int& got, int& ends) {
    const after_child checked(child);
    got = co_await with_scope(return_before, std::ref(out), std::ref(child), std::ref(go));
    ++ends;
}

// JOB-1: the body returns on one thread, its last child ends on a second, and a third cancels: the scope ends once, after its
// child; what the body returned before the cancel came is delivered.
void child_vs_cancel_vs_body() {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    promise<int> out;
    job child;
    event go;
    int got = 0;
    int ends = 0;
    const job j = root.launch("parent", outlived_by_child(out, child, go, got, ends));
    ex.run_all();
    go.set();  // from here on only the executor's turn is missing
    thread ending([&] {
        check(out.set_value(1), "JOB-25: nobody abandons it");
        ex.wake();
    });
    thread canceller([&] {
        j.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    ending.join();
    canceller.join();
    check(child.state() == job_state::completed, "JOB-25: a cancel waits for it");
    check(got == 7 && ends == 1 && j.state() == job_state::completed, "TASK-12: a wake that came before the cancel is kept");
    finish(ex, root);
}
TEST(scope_core_model, child_vs_cancel_vs_body) { EXPECT_EXPLORED(two_switches, child_vs_cancel_vs_body); }

task<> close_it(owned_scope& o) { co_await o.close(); }

// JOB-37: the last child ends on one thread while the closing body is aborted from another: the close goes on to its end.
void close_vs_abort_vs_last_child() {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    owned_scope o(ex, "owned");
    auto [answer, out] = make_promise<int>(o, "child", external_cancel::uninterruptible);
    answer.keep();
    const job closer = root.launch("closes", close_it(o));
    ex.run_all();
    thread ending([&, mine = &out] {
        mine->set_value(1);
        ex.wake();
    });
    thread aborting([&] {
        detail::task_access::core_of(closer)->abort();
        ex.wake();
    });
    run_until(ex, [&] { return closer.is_finished(); });
    check(o.is_closed(), "JOB-37: it was not abandoned");
    ending.join();
    aborting.join();
    check(closer.state() == job_state::completed, "JOB-37: leaving is no checkpoint");
    finish(ex, root);
}
TEST(scope_core_model, close_vs_abort_vs_last_child) { EXPECT_EXPLORED(two_switches, close_vs_abort_vs_last_child); }

task<> launch_late(owned_scope& o, event& e, job& late, int& count) {
    co_await e.wait();
    late = o.launch("late", count_one(count));
}

// JOB-90: a child starts another one while the scope is closed: it is admitted and waited for, in either order.
MODEL(scope_core_model, member_spawns_vs_close) {
    manual_executor ex;
    owned_scope o(ex, "owned");
    event now("now", true);
    job late;
    int count = 0;
    o.launch("starts another", launch_late(o, now, late, count));
    job outsider;
    thread closing([&] {
        detail::task_access::core_of(o).close();
        outsider = o.launch("too late", count_one(count));
        ex.wake();
    });
    run_until(ex, [&] { return o.is_closed(); });
    closing.join();
    check(count == 1 && late.state() == job_state::completed,
          "JOB-90: a member is admitted while it closes, and waited for");
    check(!outsider, "JOB-90: an outsider is not");
}

}  // namespace
