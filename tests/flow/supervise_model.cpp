// A supervised child that fails: restart, escalate and cancel meet.
#include <roost/flow/supervise.hpp>

#include "../task/model_rig.hpp"

#include <stdexcept>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::manual_executor;

// Without a wait of its own: what the search has to interleave is the restart, the end and the cancel.
task<> fail_once(int& runs) {
    if (++runs == 1) {
        throw std::runtime_error("first");
    }
    co_return;
}
task<> one_child(supervisor& s, int& runs, job& child) {
    child = s.launch("child", fail_once, std::ref(runs));
    co_return;
}
task<> run_supervised(on_failure what, int& runs, job& child, supervised_counts& counts, bool& threw) {
    try {
        auto ended = co_await supervise(std::move(what), one_child, std::ref(runs), std::ref(child));
        counts = ended.counts();
    } catch (const std::runtime_error&) {
        threw = true;
    }
}

class bench {
public:
    manual_executor ex;
    owned_scope root{ex, scope_options("root").report_failures()};
    int runs = 0;
    job child;
    supervised_counts counts;
    bool threw = false;

    // The child fails at once, on this thread, while another one cancels it.
    void play(on_failure what) {
        const job j = root.launch("supervisor", run_supervised(std::move(what), runs, child, counts, threw));
        while (!child) {
            ex.run_one();
        }
        thread canceller([&] {
            child.cancel();
            ex.wake();
        });
        run_until(ex, [&] { return j.is_finished(); });
        canceller.join();
        check(j.state() == job_state::completed, "JOB-30: the supervisor ends");
        finish(ex, root);
    }
};

// JOB-31, JOB-34: it is restarted and completes, or it ends cancelled; nothing runs twice, nothing is forgotten.
MODEL(supervise_model, restart_vs_cancel) {
    bench b;
    b.play(on_failure::restart(backoff(), 3));
    check(!b.threw, "JOB-35: a cancelled child is no failure");
    check(b.counts.completed + b.counts.cancelled == 1, "JOB-30: it ended once");
    check(b.counts.failures == (b.runs >= 1 ? 1U : 0U), "JOB-34: a failure is counted, whatever came after it");
    check(b.counts.restarts <= b.counts.failures && b.runs <= 2, "JOB-31: one restart for one failure");
}

// JOB-32: a failure that happened escalates, also when the cancel came at the same time; one that did not, does not.
MODEL(supervise_model, escalate_vs_cancel) {
    bench b;
    b.play(on_failure::escalate());
    check(b.threw == (b.runs == 1), "JOB-32: failed and thrown, or cancelled and not");
}

task<> two_children(supervisor& s, int& first, int& second, job& child) {
    child = s.launch("restarts", fail_once, std::ref(first));
    s.launch("escalates", fail_once, std::ref(second));
    co_return;
}
task<> run_both(int& first, int& second, job& child, supervised_counts& counts, bool& threw) {
    const auto decide = [](const child_failure& f) {
        return f.name() == "restarts" ? on_failure::restart(backoff(), 1) : on_failure::escalate();
    };
    try {
        auto ended =
            co_await supervise(on_failure::ask(decide), two_children, std::ref(first), std::ref(second), std::ref(child));
        counts = ended.counts();
    } catch (const std::runtime_error&) {
        threw = true;
    }
}

// JOB-31, JOB-32: one child is to be restarted, the other one escalates, and the first is cancelled.
MODEL(supervise_model, restart_vs_escalate_vs_cancel) {
    // The restart may be prevented by the escalation: then there is no result for its failure.
    const failure_sink before =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        bench b;
        int second = 0;
        const job j = b.root.launch("supervisor", run_both(b.runs, second, b.child, b.counts, b.threw));
        while (!b.child) {
            b.ex.run_one();
        }
        thread canceller([&] {
            b.child.cancel();
            b.ex.wake();
        });
        run_until(b.ex, [&] { return j.is_finished(); });
        canceller.join();
        check(b.threw && second == 1, "JOB-32: the escalated failure is thrown, whatever happened beside it");
        check(b.runs <= 2 && b.child.is_finished(), "JOB-31: one restart at most, and it ended");
        finish(b.ex, b.root);
    }
    set_failure_sink(before);
}

bool fails_in(detail::supervision& all, owned_scope& root, const char* name, const std::exception_ptr& error) {
    std::uint32_t restarts = 0;
    duration wait{};
    static_cast<void>(all.record(name, error, 1, {}));
    return all.decide(detail::task_access::core_of(root), name, outcome<void>(error), 1, restarts, duration(0), wait);
}

// JOB-31, JOB-32: the decisions alone, at the same time: one child is restarted, another one escalates, a cancel comes.
MODEL(supervise_model, decisions) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    detail::supervision all(on_failure::ask([](const child_failure& f) {
                                return f.name() == "restarts" ? on_failure::restart(backoff(), 1) : on_failure::escalate();
                            }),
                            site());
    const auto first = std::make_exception_ptr(std::runtime_error("first"));
    const auto second = std::make_exception_ptr(std::runtime_error("second"));
    bool again = false;
    bool escalated_again = true;
    thread restarting([&] { again = fails_in(all, root, "restarts", first); });
    thread escalating([&] { escalated_again = fails_in(all, root, "escalates", second); });
    root.cancel();
    restarting.join();
    escalating.join();
    check(again && !escalated_again, "JOB-33: each got its own decision");
    check(all.counts().failures == 2, "JOB-30: both failures are counted");
    check(detail::task_access::core_of(root).first_failure() == second, "JOB-32: the one that escalates is the scope's");
    check(detail::task_access::core_of(root).is_cancelled(), "JOB-32: and the scope is cancelled");
    finish(ex, root);
}

}  // namespace
