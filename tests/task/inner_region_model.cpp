// Deadlines and shields: the timer against the end of the body and against a cancel.
#include <roost/sync/event.hpp>
#include <roost/task/checkpoint.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/timeout.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;

// One timer, which fires when some thread says so. disarm() waits for a fired() that runs, as every service does.
class one_timer final : public timer_service {
public:
    time_point now() noexcept override { return time_point(); }
    bool arm(timer& t) noexcept override {
        armed_ = &t;
        state_.store(armed, mo::release);  // K1
        return true;
    }
    bool disarm(timer&) noexcept override {
        std::uint32_t expected = armed;
        if (state_.compare_exchange_strong(expected, idle, mo::acq_rel, mo::acquire)) {  // K2
            return true;
        }
        while (state_.load(mo::acquire) == firing) {  // K3
            wait_on(state_, firing);
        }
        return false;
    }
    void fire() noexcept {
        std::uint32_t expected = armed;
        if (state_.compare_exchange_strong(expected, firing, mo::acq_rel, mo::relaxed)) {  // K2
            armed_->fire();
            state_.store(idle, mo::release);  // K3
            wake_on(&state_, 1);
        }
    }

private:
    static constexpr std::uint32_t idle = 0;
    static constexpr std::uint32_t armed = 1;
    static constexpr std::uint32_t firing = 2;
    timer* armed_ = nullptr;
    atomic<std::uint32_t> state_{idle};
};

class timed_executor final : public executor {
public:
    bool post(work& w) noexcept override { return inner.post(w); }
    timer_service* timers() noexcept override { return &clock; }
    roost::testing::manual_executor inner;
    one_timer clock;
};

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
    root_scope root(ex);
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

task<> shielded(event& e, int& got) { got = co_await shield(std::chrono::hours(1), wait_for(e)); }

// TASK-24: the budget is spent while the job is cancelled: the second of the two facts cancels the inside.
MODEL(inner_region_model, budget_vs_cancel) {
    timed_executor ex;
    root_scope root(ex);
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

// TASK-24: whoever notes the second fact knows what the first was about: the inside is told why the outside was cancelled.
MODEL(inner_region_model, budget_knows_why) {
    timed_executor ex;
    root_scope root(ex);
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
