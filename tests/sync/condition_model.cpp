// Notified, moved to the mutex, cancelled: in every order (SYNC-120 .. SYNC-126).

#include <roost/sync/condition.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"

namespace {

using roost::condition;
using roost::mutex;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::owned;

fire wait_until_ready(mutex& m, condition& c, plain<int>& ready, plain<int>& done) {
    auto held = co_await m.lock();
    while (ready.get() == 0) {
        co_await c.wait(held);
    }
    done.set(done.get() + 1);
}

MODEL_COMPLETE(condition_model, notify_is_not_missed) {
    mutex m;
    condition c;
    plain<int> ready{0};
    plain<int> done{0};
    thread setter([&] {
        auto held = m.lock_blocking();
        ready.set(1);
        c.notify_one();
    });
    wait_until_ready(m, c, ready, done);
    setter.join();
    check(done.get() == 1 && !m.is_locked() && c.waiters_now() == 0, "SYNC-120");
}

MODEL_COMPLETE(condition_model, thread_is_not_missed) {
    mutex m;
    condition c;
    plain<int> ready{0};
    thread setter([&] {
        auto held = m.lock_blocking();
        ready.set(1);
        c.notify_all();
    });
    {
        auto held = m.lock_blocking();
        c.wait_blocking(held, [&] { return ready.get() == 1; });
    }
    setter.join();
    check(!m.is_locked(), "SYNC-126");
}

// Notified and late at once: a thread that is not late was woken, and has the mutex either way.
MODEL_COMPLETE(condition_model, thread_is_late) {
    mutex m;
    condition c;
    thread setter([&] { c.notify_one(); });
    auto held = m.lock_blocking();
    static_cast<void>(c.wait_blocking(held, roost::now() + std::chrono::hours(1)));
    check(m.is_locked() && c.waiters_now() == 0, "SYNC-126: it has the mutex and is in no line");
    held.unlock();
    setter.join();
}

struct by_reference {
    explicit by_reference(condition::operation& o) noexcept : op(o) {}
    bool await_ready() noexcept { return op.await_ready(); }
    bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return op.await_suspend(h); }
    void await_resume() noexcept { op.await_resume(); }
    condition::operation& op;
};

owned wait_here(condition::operation& o, mutex::guard& g, plain<int>& done) {
    co_await by_reference(o);
    done.set(done.get() + 1);
    g.unlock();
}

// One who waits already.
struct one_in_line {
    one_in_line(mutex& m, condition& c)
        : held(m.try_lock()), waiting(c.wait(held)), coroutine(wait_here(waiting, held, done)) {}
    plain<int> done{0};
    mutex::guard held;
    condition::operation waiting;
    owned coroutine;
};

// One is notified by the holder of the mutex while w is being cancelled.
bool cancel_beside_notify_one(mutex& m, condition& c, one_in_line& w) {
    mutex::guard other = m.try_lock();
    thread notifier([&] {
        c.notify_one();
        other.unlock();
    });
    const bool cancelled = w.waiting.try_cancel();
    notifier.join();
    return cancelled;
}

MODEL_COMPLETE(condition_model, notify_vs_cancel) {
    mutex m;
    condition c;
    one_in_line one(m, c);
    const bool cancelled = cancel_beside_notify_one(m, c, one);
    check(one.done.get() == (cancelled ? 0 : 1), "SYNC-123: cancelled or resumed with the mutex");
    check(!m.is_locked() && m.waiters_now() == 0 && c.waiters_now() == 0, "SYNC-123");
}

// Two wait and one of them is notified, and cancelled: the notification reaches one of them.
MODEL_COMPLETE(condition_model, notification_is_passed_on) {
    mutex m;
    condition c;
    one_in_line first(m, c);
    one_in_line second(m, c);
    const bool cancelled = cancel_beside_notify_one(m, c, first);
    check(first.done.get() == (cancelled ? 0 : 1), "SYNC-123");
    check(first.done.get() + second.done.get() == 1, "SYNC-128: one notification, one of them");
    c.notify_all();
    check(!m.is_locked() && m.waiters_now() == 0 && c.waiters_now() == 0, "SYNC-123");
}

// One that has the mutex already is destroyed before it runs, while another one comes for the mutex.
MODEL_COMPLETE(condition_model, notification_of_one_that_never_ran) {
    mutex m;
    condition c;
    sync_testing::hand_executor executor;
    sync_testing::hosted first = [](sync_testing::hand_executor&, mutex& mm, condition& cc) -> sync_testing::hosted {
        auto held = co_await mm.lock();
        co_await cc.wait(held);
    }(executor, m, c);
    one_in_line second(m, c);
    c.notify_one();
    executor.forget();
    thread other([&] { first.destroy(); });
    { const mutex::guard visit = m.lock_blocking(); }
    other.join();
    check(second.done.get() == 1, "SYNC-128: the notification goes to the next");
    check(!m.is_locked() && m.waiters_now() == 0 && c.waiters_now() == 0, "SYNC-124");
}

// A stop may come before the wait has begun, and after it was notified: whatever it sees of the wait is whole.
MODEL(condition_model, notify_vs_early_cancel) {
    mutex m;
    condition c;
    plain<int> done{0};
    mutex::guard held = m.try_lock();
    condition::operation waiting = c.wait(held);
    bool cancelled = false;
    thread canceller([&] { cancelled = waiting.try_cancel(); });
    thread notifier([&] {
        mutex::guard other = m.lock_blocking();
        c.notify_all();
    });
    owned coroutine = wait_here(waiting, held, done);
    canceller.join();
    notifier.join();
    c.notify_all();
    check(done.get() == (cancelled ? 0 : 1), "SYNC-123: cancelled or resumed with the mutex");
    check(!m.is_locked() && m.waiters_now() == 0 && c.waiters_now() == 0, "SYNC-123");
}

// Everybody was notified, so the condition may go; one of them queues for the mutex still, and is cancelled.
MODEL_COMPLETE(condition_model, gone_after_notify_all) {
    mutex m;
    auto* c = new (roost::seam::allocate(sizeof(condition))) condition;
    one_in_line one(m, *c);
    mutex::guard other = m.try_lock();
    c->notify_all();
    c->~condition();
    roost::seam::deallocate(c, sizeof(condition));
    thread holder([&] { other.unlock(); });
    const bool cancelled = one.waiting.try_cancel();
    holder.join();
    check(one.done.get() == (cancelled ? 0 : 1), "SYNC-129");
    check(!m.is_locked() && m.waiters_now() == 0, "SYNC-129");
}

}  // namespace
