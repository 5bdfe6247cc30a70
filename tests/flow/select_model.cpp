// Exactly one clause of a select happens, whatever comes at the same time.
#include <roost/flow/select.hpp>

#include "../task/model_rig.hpp"

#include <functional>

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::testing::check;
using roost::testing::manual_executor;

// A select that runs here, beside another thread.
class selecting {
public:
    explicit selecting(task<> t) : job_(root_.launch("select", std::move(t))) {}
    // Until all of its clauses are in line.
    void queue_up() { ex_.run_all(); }
    template <class Act>
    [[nodiscard]] thread beside(Act act) {
        return thread([this, act] {
            act();
            ex_.wake();
        });
    }
    void run_to_its_end() {
        run_until(ex_, [&] { return job_.is_finished(); });
    }
    void end_with(thread& other) {
        run_to_its_end();
        other.join();
    }
    void finish() { model_rig::finish(ex_, root_); }
    [[nodiscard]] const job& the_job() const noexcept { return job_; }

private:
    manual_executor ex_;
    owned_scope root_{ex_, scope_options("root").report_failures()};
    job job_;
};

task<> receive_either(channel<int>& a, channel<int>& b, int& got) {
    auto which = co_await select(a.receive(), b.receive());
    got = which.index() == 0 ? *which.get<0>() : *which.get<1>();
}

// JOB-55: two senders at once: one value is taken, the other one is still where it was sent.
MODEL(select_model, two_wakers) {
    channel<int> a(1);
    channel<int> b(1);
    int got = 0;
    selecting here(receive_either(a, b, got));
    here.queue_up();
    thread other = here.beside([&] { check(static_cast<bool>(b.try_send(2)), "there is room"); });
    check(static_cast<bool>(a.try_send(1)), "there is room");
    here.end_with(other);
    const std::size_t left = a.size() + b.size();
    check(got != 0 && left == 1, "JOB-55: one value is taken, the other stays");
    check((got == 1) == (b.size() == 1), "JOB-55: the value of the loser stays");
    here.finish();
}

// JOB-55, SYNC-174: the clause that lost was taken out by a sender, and its channel is gone before the select runs.
MODEL_COMPLETE(select_model, loser_is_gone) {
    auto* a = new (allocate(sizeof(channel<int>), alignof(channel<int>))) channel<int>(1);
    channel<int> b(1);
    int got = 0;
    selecting here(receive_either(*a, b, got));
    here.queue_up();
    check(static_cast<bool>(b.try_send(2)) && static_cast<bool>(a->try_send(1)), "there is room");
    check(a->waiters_now() == 0 && a->size() == 1, "JOB-55: the value of the loser stays");
    a->~channel();
    deallocate(a, sizeof(channel<int>), alignof(channel<int>));
    here.run_to_its_end();
    check(got == 2, "JOB-55: one value is taken");
    here.finish();
}

// JOB-55: the wake may come while the later clauses are still being queued.
MODEL(select_model, wake_while_publishing) {
    channel<int> a(1);
    channel<int> b(1);
    int got = 0;
    selecting here(receive_either(a, b, got));
    thread other = here.beside([&] {
        check(static_cast<bool>(a.try_send(1)), "there is room");
        check(static_cast<bool>(b.try_send(2)), "there is room");
    });
    here.end_with(other);
    check(got != 0 && a.size() + b.size() == 1, "JOB-55: one value is taken, the other stays");
    here.finish();
}

task<> wait_or_acquire(event& e, semaphore& s, int& which_came) {
    auto which = co_await select(e.wait(), s.acquire());
    which_came = static_cast<int>(which.index());
}

// JOB-57: decided by the event while the permit that has become free is being taken: it is given back.
MODEL(select_model, decided_while_a_permit_is_taken) {
    event e;
    semaphore s(1);
    check(s.try_acquire().release() == 1, "there is one");
    int came = -1;
    selecting here(wait_or_acquire(e, s, came));
    thread other = here.beside([&] {
        e.set();
        s.release();
    });
    here.end_with(other);
    check(came >= 0 && s.available() == 1, "JOB-57: the permit is there, given back by the loser or by its holder");
    here.finish();
}

// JOB-57: nothing else decides: the permit that has become free is taken at once, or handed over.
MODEL(select_model, permit_comes_while_publishing) {
    event e;
    semaphore s(1);
    check(s.try_acquire().release() == 1, "there is one");
    int came = -1;
    selecting here(wait_or_acquire(e, s, came));
    thread other = here.beside([&] { s.release(); });
    here.end_with(other);
    check(came == 1 && s.available() == 1, "JOB-57: it had the permit");
    here.finish();
}

task<> wait_or_send(event& e, channel<int>& c, int& which_came) {
    auto which = co_await select(e.wait(), c.send(1));
    which_came = static_cast<int>(which.index());
}

// JOB-55: decided by the event while there is room for the value, or a receiver: it is not sent.
void decided_while_sending(channel<int>& c, const std::function<int()>& makes_room) {
    manual_executor ex;
    owned_scope root(ex, scope_options("root").report_failures());
    event e;
    int came = -1;
    int received = 0;
    const job j = root.launch("select", wait_or_send(e, c, came));
    thread other([&] {
        e.set();
        ex.wake();
        received = makes_room();
    });
    run_until(ex, [&] { return j.is_finished(); });
    static_cast<void>(c.close());  // remaining receivers wait for nothing
    other.join();
    const int arrived = (received == 1 ? 1 : 0) + static_cast<int>(c.size());
    check(came >= 0 && arrived == (came == 1 ? 1 : 0), "JOB-55: sent if that clause happened, else not");
    finish(ex, root);
}
MODEL(select_model, decided_while_there_is_room) {
    channel<int> c(1);
    check(static_cast<bool>(c.try_send(5)), "there is room");
    decided_while_sending(c, [&] { return *c.try_receive(); });
}
MODEL(select_model, decided_while_somebody_receives) {
    channel<int> c(0);
    decided_while_sending(c, [&] {
        auto got = c.receive_blocking();
        return got ? *got : 0;
    });
}

task<> acquire_either(semaphore& a, semaphore& b, int& held) {
    auto which = co_await select(a.acquire(), b.acquire());
    ++held;
}

// JOB-57: a permit given back, another one given back, and a cancel: every permit is there at the end.
MODEL(select_model, permits_vs_cancel) {
    semaphore a(1);
    semaphore b(1);
    auto first = a.try_acquire();
    auto second = b.try_acquire();
    int held = 0;
    selecting here(acquire_either(a, b, held));
    here.queue_up();
    thread gives = here.beside([&] { first.give_back(); });
    here.the_job().cancel();
    second.give_back();
    here.end_with(gives);
    check(a.available() == 1 && b.available() == 1, "JOB-57: permits are conserved");
    check(a.waiters_now() + b.waiters_now() == 0, "JOB-57: no waiter is left queued");
    check((here.the_job().state() == job_state::cancelled) == (held == 0), "JOB-57: the claim decides");
    here.finish();
}

task<> send_or_receive(channel<int>& to, channel<int>& from, int& value, int& sent, int& received) {
    auto which = co_await select(to.send_from(value), from.receive());
    ++(which.index() == 0 ? sent : received);
}

// JOB-56: two selects, each sending to where the other receives, meet once and only once.
MODEL(select_model, two_selects_meet) {
    manual_executor here;
    manual_executor there;
    owned_scope root(here, scope_options("root").report_failures());
    owned_scope far(there, scope_options("root").report_failures());
    channel<int> a(0);
    channel<int> b(0);
    int one = 1;
    int two = 2;
    int sent[2] = {};
    int received[2] = {};
    const job mine = root.launch("mine", send_or_receive(a, b, one, sent[0], received[0]));
    const job theirs = far.launch("theirs", send_or_receive(b, a, two, sent[1], received[1]));
    thread other([&] {
        run_until(there, [&] { return theirs.is_finished(); });
        here.wake();
    });
    run_until(here, [&] { return mine.is_finished(); });
    other.join();
    check(sent[0] == received[1] && sent[1] == received[0] && sent[0] + sent[1] == 1,
          "JOB-56: one of them sent, the other one received it");
    check(a.waiters_now() + b.waiters_now() == 0, "JOB-56: no waiter is left queued");
    finish(here, root);
    finish(there, far);
}

task<> signal_or_event(auto_reset_event& s, event& e, int& signals) {
    auto which = co_await select(s.wait(), e.wait());
    signals += which.index() == 0 ? 1 : 0;
}

// JOB-55: a signal is taken by the select or is still there.
MODEL(select_model, signal_vs_event) {
    auto_reset_event signal;
    event e;
    int taken = 0;
    selecting here(signal_or_event(signal, e, taken));
    here.queue_up();
    thread other = here.beside([&] { e.set(); });
    signal.set();
    here.end_with(other);
    check((taken == 1) != signal.try_wait(), "JOB-55: the signal is taken once");
    here.finish();
}

task<> event_or_signal(event& e, auto_reset_event& s, int& signals) {
    auto which = co_await select(e.wait(), s.wait());
    signals += which.index() == 1 ? 1 : 0;
}

// JOB-55: both come while the clauses are being queued: a signal that was taken for a select decided elsewhere is put back.
MODEL(select_model, signal_while_publishing) {
    auto_reset_event signal;
    event e;
    int taken = 0;
    selecting here(event_or_signal(e, signal, taken));
    thread other = here.beside([&] {
        signal.set();
        e.set();
    });
    here.end_with(other);
    check((taken == 1) != signal.try_wait(), "JOB-55: the signal is taken once");
    here.finish();
}

}  // namespace
