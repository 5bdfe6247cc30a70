// Daemons against the end of their scope: the last ordinary unit and the last daemon may go on different threads.
#include <roost/sync/event.hpp>
#include <roost/task/detail/job/daemon_scope.hpp>
#include <roost/task/owned_scope.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::manual_executor;

task<> wait_for(event& e) { co_await e.wait(); }
task<int> lend_with_daemon(scope& s, lease& out, event& never, job& daemon) {
    daemon = s.daemon("daemon", wait_for(never));
    out = s.lease();
    co_return 7;
}
task<> run(lease& out, event& never, job& daemon, int& got) {
    got = co_await with_scope(lend_with_daemon, std::ref(out), std::ref(never), std::ref(daemon));
}

// JOB-64: the last ordinary unit goes on another thread while the daemon ends by itself.
MODEL(daemon_scope_model, last_unit_vs_daemon_that_ends) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event done;
    lease held;
    job daemon;
    int got = 0;
    const job j = root.launch("outer", run(held, done, daemon, got));
    ex.run_all();
    thread giver([&] {
        held.give_back();
        ex.wake();
    });
    done.set();
    run_until(ex, [&] { return j.is_finished(); });
    giver.join();
    check(got == 7, "JOB-64: the value is delivered");
    check(daemon.is_finished(), "JOB-64: the scope ends after its daemons");
    finish(ex, root);
}

// JOB-64: the last ordinary unit goes on another thread while the job is cancelled from outside, daemon and all.
MODEL(daemon_scope_model, last_unit_vs_cancel) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event never;
    lease held;
    job daemon;
    int got = 0;
    const job j = root.launch("outer", run(held, never, daemon, got));
    ex.run_all();
    thread giver([&] {
        held.give_back();
        ex.wake();
    });
    j.cancel();
    run_until(ex, [&] { return j.is_finished(); });
    giver.join();
    check(daemon.state() == job_state::cancelled, "JOB-64: the daemon is cancelled");
    finish(ex, root);
}

// JOB-64, JOB-90: a thread starts the first daemon of an owned scope while another closes it. The daemon runs and the end waits for
// it, or it is refused.
MODEL(daemon_scope_model, first_daemon_vs_close) {
    manual_executor ex;
    event never;
    {
        owned_scope s(ex, "jobs");
        job daemon;
        thread starter([&] {
            daemon = s.daemon("daemon", wait_for(never));
            ex.wake();
        });
        s.request_close();
        run_until(ex, [&] { return s.is_closed(); });
        starter.join();
        ex.run_all();
        check(!daemon || daemon.is_finished(), "JOB-64: a daemon that was admitted has ended");
    }
}

// JOB-64: two threads start the first daemon at the same time; both run in one daemon scope, and both are cancelled at the end.
MODEL(daemon_scope_model, two_first_daemons) {
    manual_executor ex;
    event never;
    {
        owned_scope s(ex, "jobs");
        job one;
        thread other([&] { one = s.daemon("one", wait_for(never)); });
        const job two = s.daemon("two", wait_for(never));
        other.join();
        s.request_close();
        run_until(ex, [&] { return s.is_closed(); });
        check(one && two && one.state() == job_state::cancelled && two.state() == job_state::cancelled,
              "JOB-64: both daemons are cancelled");
    }
}

// JOB-64: a thread starts the first daemon of an owned scope while another cancels the scope: it is cancelled before the scope is
// closed.
MODEL(daemon_scope_model, first_daemon_vs_cancel) {
    manual_executor ex;
    event never;
    {
        owned_scope s(ex, "jobs");
        job daemon;
        thread starter([&] {
            daemon = s.daemon("daemon", wait_for(never));
            ex.wake();
        });
        s.cancel();
        starter.join();
        run_until(ex, [&] { return daemon.is_finished(); });
        check(daemon.state() == job_state::cancelled, "JOB-64: the daemon is cancelled with its owned scope");
        s.request_close();
        run_until(ex, [&] { return s.is_closed(); });
    }
}

}  // namespace
