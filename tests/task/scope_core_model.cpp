// The end of a scope: who takes the last unit, and who may free what.
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/scope_core.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::manual_executor;

task<int> lend(scope& s, lease& out) {
    out = s.lease();
    co_return 7;
}
task<> with_lease(lease& out, int& got) { got = co_await with_scope(lend, std::ref(out)); }

// JOB-16: the last unit goes on another thread while the body returns and somebody cancels from outside.
MODEL(scope_core_model, last_child_vs_body) {
    manual_executor ex;
    root_scope root(ex);
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

// JOB-1: the last unit goes while the body returns: one of the two goes on, and sees what the other did.
MODEL(scope_core_model, last_unit_vs_return) {
    manual_executor ex;
    root_scope root(ex);
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
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    giver.join();
    check(got == 7 && j.state() == job_state::completed, "JOB-1: it ends once");
    finish(ex, root);
}

// TREE-29: the same, with a second thread that runs what was posted: who frees the scope's block is not who ended its body.
MODEL(scope_core_model, last_unit_goes_on_elsewhere) {
    manual_executor ex;
    root_scope root(ex);
    lease held;
    event go;
    plain<int> note{0};
    int got = 0;
    const job j = root.launch("outer", until_given_back(held, go, note, got));
    ex.run_all();
    go.set();
    thread worker([&] {
        note.set(1);
        held.give_back();
        ex.run_all();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    worker.join();
    check(got == 7 && j.state() == job_state::completed, "JOB-1: it ends once");
    finish(ex, root);
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

// JOB-1: last child, external cancel and body return at once: the scope ends once, after its child.
MODEL(scope_core_model, child_vs_cancel_vs_body) {
    manual_executor ex;
    root_scope root(ex);
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

}  // namespace
