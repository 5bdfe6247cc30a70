// Every interleaving of lock, unlock, cancel and deadline (SYNC-20 .. SYNC-26).

#include <roost/sync/mutex.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::mutex;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;

fire add_one(mutex& m, plain<int>& shared) {
    auto held = co_await m.lock();
    shared.set(shared.get() + 1);
}

// Two threads, each through the fast paths or the queue: the plain counter sees a race if they are ever inside together.
MODEL_COMPLETE(mutex_model, publish) {
    mutex m;
    plain<int> shared{0};
    const auto visit = [&] {
        auto held = m.lock_blocking();
        shared.set(shared.get() + 1);
    };
    thread other(visit);
    visit();
    other.join();
    check(shared.get() == 2 && !m.is_locked(), "SYNC-25: both were inside, one after the other");
}

MODEL_COMPLETE(mutex_model, try_lock_publishes) {
    mutex m;
    plain<int> shared{0};
    const auto visit = [&] {
        if (auto held = m.try_lock()) {
            shared.set(shared.get() + 1);
        }
    };
    thread other(visit);
    visit();
    other.join();
    check(shared.get() >= 1, "");
}

// A coroutine queued behind a holder, while another thread comes and goes: handed over, never stolen, never lost.
MODEL_COMPLETE(mutex_model, hand_off) {
    mutex m;
    plain<int> shared{0};
    auto held = m.try_lock();
    thread other([&] { add_one(m, shared); });
    shared.set(shared.get() + 10);
    held.unlock();
    other.join();
    check(shared.get() == 11 && !m.is_locked() && m.waiters_now() == 0, "SYNC-21: the coroutine ran with the lock");
}

MODEL_COMPLETE(mutex_model, two_coroutines_hand_off) {
    mutex m;
    plain<int> shared{0};
    auto held = m.try_lock();
    add_one(m, shared);
    thread other([&] { add_one(m, shared); });
    held.unlock();
    other.join();
    check(shared.get() == 2 && !m.is_locked(), "SYNC-21");
}

// Hand-over against cancel, with a waiter behind: the one that is left gets the lock, and it ends up free.
MODEL_COMPLETE(mutex_model, hand_off_vs_cancel) {
    mutex m;
    plain<int> first{0};
    plain<int> shared{0};
    auto held = m.try_lock();
    held_operation one(m.lock(), first);
    add_one(m, shared);
    thread releaser([&] { held.unlock(); });
    const bool cancelled = one.operation().try_cancel();
    releaser.join();
    check(first.get() == (cancelled ? 0 : 1), "SYNC-23: cancelled or served");
    check(shared.get() == 1, "SYNC-23: the one behind is always served");
    check(!m.is_locked() && m.waiters_now() == 0, "the lock is neither lost nor doubled");
}

// A thread that gives up at its deadline against the hand-over, with a coroutine behind it.
MODEL_COMPLETE(mutex_model, hand_off_vs_deadline) {
    mutex m;
    plain<int> shared{0};
    auto held = m.try_lock();
    thread sleeper([&] {
        if (auto mine = m.lock_blocking(roost::now() + roost::duration(1))) {
            shared.set(shared.get() + 10);
        }
    });
    held.unlock();
    add_one(m, shared);
    sleeper.join();
    check(shared.get() % 10 == 1 && !m.is_locked() && m.waiters_now() == 0, "SYNC-24: never lost, never doubled");
}

// A parked thread that was called, a spinning one that overtakes it, and the bound on that.
MODEL_COMPLETE(mutex_model, overtaking) {
    mutex m;
    plain<int> shared{0};
    const auto visit = [&] {
        auto held = m.lock_blocking();
        shared.set(shared.get() + 1);
    };
    thread other([&] {
        visit();
        visit();
    });
    visit();
    other.join();
    check(shared.get() == 3 && !m.is_locked() && m.waiters_now() == 0, "SYNC-26: everybody gets a turn");
}

// Two that are awake pass a parked thread, from both sides of each release: not more often than it has patience.
MODEL(mutex_model, overtaken_at_most_as_agreed) {
    mutex m;
    plain<int> overtaken{0};
    plain<bool> has_run{false};
    auto held = m.try_lock();
    thread sleeper([&] {
        auto mine = m.lock_blocking();
        has_run.set(true);
    });
    while (m.waiters_now() == 0) {
        roost::seam::yield_thread();
    }
    const auto visit = [&] {
        auto mine = m.lock_blocking();
        overtaken.set(overtaken.get() + (has_run.get() ? 0 : 1));
    };
    thread other(visit);
    held.unlock();
    visit();
    other.join();
    sleeper.join();
    check(overtaken.get() <= roost::detail::thread_patience, "SYNC-26: a bounded number of times");
}

// The last holder destroys it, while the unlock() before it is still returning.
MODEL_COMPLETE(mutex_model, destroyed_by_the_last) {
    auto* m = new (roost::seam::allocate(sizeof(mutex))) mutex;
    m->try_lock().release();
    thread releaser([m] { m->unlock(); });
    m->lock_blocking().release();
    m->unlock();
    m->~mutex();
    roost::seam::deallocate(m, sizeof(mutex));
    releaser.join();
}

}  // namespace
