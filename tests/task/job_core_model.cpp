// The end of a job: what joiners see, and in which order.
#include <roost/sync/event.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/promise.hpp>
#include <roost/tree/visit.hpp>

#include "model_rig.hpp"

#include <stdexcept>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::manual_executor;

// Three threads: every way with at most two preemptions. Given a minute; in five seconds it sees a part of them.
const roost::testing::options two_switches{.memory = roost::testing::memory::weak, .preemption_bound = 2};

task<> wait_for(event& e) { co_await e.wait(); }
task<> join_it(job target, bool& saw_final) {
    co_await target.join();
    saw_final = target.is_finished();
}

// JOB-7: a joiner that comes while the job ends on another thread is woken or passes at once.
MODEL(job_core_model, late_join) {
    manual_executor here;
    manual_executor there;
    owned_scope root(here, scope_options("root").report_failures());
    owned_scope other(there, scope_options("root").report_failures());
    event set("set", true);
    const job target = other.launch("target", wait_for(set));
    bool saw_final = false;
    thread runner([&] {
        other.request_close();
        run_until(there, [&] { return other.is_closed(); });
        here.wake();
    });
    const job joiner = root.launch("joiner", join_it(target, saw_final));
    run_until(here, [&] { return joiner.is_finished(); });
    runner.join();
    check(saw_final, "JOB-15: a joiner wakes when the state is final");
    finish(here, root);
}

task<> write_to(plain<int>& out) {
    out.set(1);
    co_return;
}

void look_while_it_ends(bool (*has_ended)(const job&)) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    plain<int> written{0};
    const job target = root.launch("target", write_to(written));
    thread watcher([&] {
        if (has_ended(target)) {
            check(written.get() == 1, "JOB-15: a final state carries the job's writes");
        }
    });
    ex.run_all();
    watcher.join();
    finish(ex, root);
}

// JOB-15: a thread that sees a final state, without waiting for it, also sees what the job did.
MODEL(job_core_model, a_final_state_carries_what_the_job_wrote) {
    look_while_it_ends([](const job& j) { return is_final(j.state()); });
}
MODEL(job_core_model, a_finished_job_carries_what_it_wrote) {
    look_while_it_ends([](const job& j) { return j.is_finished(); });
}

// JOB-76: a lease that is asked for while the job ends on another thread.
MODEL(job_core_model, lease_vs_end) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event set("set", true);
    const job target = root.launch("target", wait_for(set));
    thread asker([&] {
        if (lease mine = lease::try_take(*detail::task_access::core_of(target))) {
            check(!target.is_finished(), "JOB-76: a job is not final while a lease is out");
        }
        ex.wake();
    });
    run_until(ex, [&] { return target.is_finished(); });
    check(!lease::try_take(*detail::task_access::core_of(target)), "JOB-76: a final job gives no lease");
    asker.join();
    finish(ex, root);
}

atomic<std::uint32_t> routed{0};

// Leaves a child behind that is completed from outside, and returns.
task<> leave_a_child(scope& s, promise<int>& out, event& go) {
    auto [answer, mine] = make_promise<int>(s, "late", external_cancel::uninterruptible);
    answer.keep();
    out = std::move(mine);
    co_await go.wait();
}
task<> parent_of_late(promise<int>& out, event& go) { co_await with_scope(leave_a_child, std::ref(out), std::ref(go)); }

// What a joiner sees when it is woken.
class seen_by_joiner {
public:
    bool woken = false;
    job_state state = job_state::fresh;
    std::uint32_t routed_by_then = 0;
};
task<> join_and_look(job target, seen_by_joiner& seen) {
    co_await target.join();
    seen.woken = true;
    seen.state = target.state();
    seen.routed_by_then = routed.load(mo::relaxed);
}

// JOB-15: the parent's body returns on one thread, its child fails on a second, and a joiner waits on a third. Whichever of the
// first two comes last ends the parent: its failure is routed, then the state is final, then the joiner wakes.
void seal_vs_late_failure_vs_join() {
    const auto before = set_failure_sink(
        +[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { routed.fetch_add(1, mo::relaxed); });
    routed.store(0, mo::relaxed);
    {
        manual_executor ex;
        manual_executor there;
        owned_scope root(ex, scope_options("root").report_failures());
        owned_scope other(there, scope_options("root").report_failures());
        promise<int> late;
        event go;
        seen_by_joiner seen;
        const job j = root.launch("parent", parent_of_late(late, go));
        ex.run_all();
        go.set();  // from here on only the executor's turn is missing
        thread failing([&] {
            late.set_error(std::make_exception_ptr(std::runtime_error("late")));
            ex.wake();
        });
        thread joining([&] {
            const job joiner = other.launch("joiner", join_and_look(j, seen));
            run_until(there, [&] { return joiner.is_finished(); });
        });
        run_until(ex, [&] { return j.is_finished(); });
        failing.join();
        joining.join();
        check(seen.woken && seen.state == job_state::failed, "JOB-15: a joiner wakes when the state is final");
        check(seen.routed_by_then == 1, "JOB-15: and the failure has been routed by then, once");
        check(j.state() == job_state::failed, "JOB-2: a late child fails its scope");
        finish(ex, root);
        finish(there, other);
    }
    set_failure_sink(before);
}
TEST(job_core_model, seal_vs_late_failure_vs_join) { EXPECT_EXPLORED(two_switches, seal_vs_late_failure_vs_join); }

task<int> make(event& e) {
    co_await e.wait();
    co_return 1;
}

// JOB-10: a deferred that is dropped on one thread while the child completes on another. The lease keeps the child from
// ending with its body, so that the drop also meets one that is completing.
MODEL(job_core_model, deferred_dropped_while_completing) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e("set", true);
    auto d = root.async("child", make(e));
    const job j = d.as_job();
    lease out = lease::try_take(*detail::task_access::core_of(j));
    check(static_cast<bool>(out), "JOB-76: a job that has not begun gives a lease");
    thread dropper([&ex, held = std::move(d), mine = std::move(out)]() mutable {
        held = deferred<int>();
        mine = lease();
        ex.wake();
    });
    run_until(ex, [&] { return j.is_finished(); });
    dropper.join();
    check(is_final(j.state()) && j.state() != job_state::failed, "JOB-10: completed or cancelled");
    finish(ex, root);
}

class counted {
public:
    explicit counted(atomic<int>& alive) : alive_(&alive) { alive_->fetch_add(1, mo::relaxed); }
    counted(counted&& other) noexcept : alive_(other.alive_) { alive_->fetch_add(1, mo::relaxed); }
    counted& operator=(counted&&) = delete;
    ~counted() { alive_->fetch_sub(1, mo::relaxed); }

private:
    atomic<int>* alive_;
};
task<counted> make_one(atomic<int>& alive) { co_return counted(alive); }
task<> take_one(deferred<counted> d, int& got) {
    const counted mine = co_await std::move(d);
    ++got;
}

// JOB-70: a value made at the moment of the cancel is delivered or destroyed, and nothing of it is left.
MODEL(job_core_model, value_vs_cancel) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    atomic<int> alive{0};
    int got = 0;
    auto made = root.async("makes", make_one(alive));
    const job taker = root.launch("takes", take_one(std::move(made), got));
    thread canceller([&] {
        taker.cancel();
        ex.wake();
    });
    run_until(ex, [&] { return taker.is_finished(); });
    canceller.join();
    finish(ex, root);
    check(alive.load(mo::relaxed) == 0, "JOB-70: delivered or destroyed, exactly once");
    check((got == 1) == (taker.state() == job_state::completed), "JOB-70: the claim decides");
}

// Runs what its own thread posts newest first, and hands it over to a waiter; the rest is a manual executor's.
class newest_first final : public executor {
public:
    bool post(work& w) noexcept override {
        if (thread_index() != home_) {
            return outside_.post(w);
        }
        own_.push_front(w);
        return true;
    }
    bool take_next(const work& w) noexcept override {
        work* newest = thread_index() == home_ ? own_.pop() : nullptr;
        if (newest != nullptr && newest != &w) {
            own_.push_front(*newest);
        }
        return newest == &w;
    }
    [[nodiscard]] bool is_here() const noexcept override { return thread_index() == home_; }
    template <class Done>
    void run_until(Done done) {
        outside_.run_until_waiting([&] {
            while (work* w = own_.pop()) {
                w->run();
            }
            return done();
        });
    }
    void wake() noexcept { outside_.wake(); }

private:
    const std::uint32_t home_ = thread_index();
    work_list own_;
    manual_executor outside_;
};

task<> take_in(scope& s, atomic<int>& alive, int& got) {
    auto child = s.async("child", make_one(alive));
    const counted mine = co_await std::move(child);
    ++got;
}
task<> take_own(atomic<int>& alive, int& got) { co_await with_scope(take_in, std::ref(alive), std::ref(got)); }

// JOB-71: a child that runs where it is awaited, while a canceller walks over it.
MODEL(job_core_model, joined_here_vs_cancel) {
    newest_first ex;
    owned_scope root(ex, scope_options("root").report_failures());
    atomic<int> alive{0};
    int got = 0;
    const job taker = root.launch("takes", take_own(alive, got));
    thread canceller([&] {
        root.cancel();
        ex.wake();
    });
    ex.run_until([&] { return taker.is_finished(); });
    canceller.join();
    root.request_close();
    ex.run_until([&] { return root.is_closed(); });
    check(alive.load(mo::relaxed) == 0, "JOB-71: delivered or destroyed, exactly once");
    check((got == 1) == (taker.state() == job_state::completed), "JOB-71: its outcome is the child's");
}

// JOB-71: the same while a visitor walks the tree and keeps the child.
MODEL(job_core_model, joined_here_vs_visitor) {
    newest_first ex;
    owned_scope root(ex, scope_options("root").report_failures());
    atomic<int> alive{0};
    int got = 0;
    const job taker = root.launch("takes", take_own(alive, got));
    thread visitor([&] {
        detail::node_ref<> last;
        visit(detail::task_access::core_of(root), 10,
              [&](const node_description& d) noexcept { last = detail::node_ref<>::try_share(*d.target); });
        last = {};
        ex.wake();
    });
    ex.run_until([&] { return taker.is_finished(); });
    visitor.join();
    root.request_close();
    ex.run_until([&] { return root.is_closed(); });
    check(got == 1 && taker.state() == job_state::completed, "JOB-71: nobody is disturbed by a look");
}

}  // namespace
