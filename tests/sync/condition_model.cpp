// Notified, moved to the mutex, cancelled: in every order (SYNC-120 .. SYNC-126).

#include <roost/sync/condition.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"

namespace {

using roost::condition;
using roost::mutex;
using roost::plain;
using roost::thread;
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

MODEL(condition_model, notify_is_not_missed) {
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

MODEL(condition_model, thread_is_not_missed) {
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

MODEL(condition_model, notify_vs_cancel) {
    mutex m;
    condition c;
    plain<int> done{0};
    mutex::guard held = m.try_lock();
    condition::operation waiting = c.wait(held);
    struct by_reference {
        explicit by_reference(condition::operation& o) noexcept : op(o) {}
        bool await_ready() noexcept { return op.await_ready(); }
        bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return op.await_suspend(h); }
        void await_resume() noexcept { op.await_resume(); }
        condition::operation& op;
    };
    owned coroutine = [](condition::operation& o, mutex::guard& g, plain<int>& d) -> owned {
        co_await by_reference(o);
        d.set(1);
        g.unlock();
    }(waiting, held, done);
    mutex::guard other = m.try_lock();
    thread notifier([&] {
        c.notify_one();
        other.unlock();
    });
    const bool cancelled = waiting.try_cancel();
    notifier.join();
    check(done.get() == (cancelled ? 0 : 1), "SYNC-123: cancelled or resumed with the mutex");
    check(!m.is_locked() && m.waiters_now() == 0 && c.waiters_now() == 0, "SYNC-123");
}

}  // namespace
