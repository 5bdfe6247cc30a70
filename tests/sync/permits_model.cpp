// Threads that wait for permits: overtaken, handed what they wait for, late, and behind another waiter (SYNC-24, SYNC-26, SYNC-27, SYNC-31).

#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::fairness;
using roost::mutex;
using roost::semaphore;
using roost::seam::thread;
using roost::testing::check;

// Released and taken again, more often than a thread in line lets itself be overtaken.
void overtake(mutex& m, mutex::guard held) {
    for (int i = 0; i < 3; ++i) {
        held.unlock();
        held = m.try_lock();
    }
}

// Handed the mutex at the moment its deadline passes: it has it, or the mutex is free.
MODEL(permits_model, handed_when_late) {
    mutex m;
    mutex::guard held = m.try_lock();
    thread late([&] {
        const mutex::guard mine = m.lock_blocking(roost::now() + std::chrono::hours(1));
        check(!mine || m.is_locked(), "SYNC-24: it has the mutex, or the deadline passed");
    });
    overtake(m, std::move(held));
    late.join();
    check(!m.is_locked() && m.waiters_now() == 0, "SYNC-24: nobody has it, nobody waits for it");
}

// Where newcomers may overtake for ever, a thread in line is told again and again, and comes in the end.
MODEL(permits_model, overtaken_for_ever) {
    mutex m("m", fairness::barging);
    mutex::guard held = m.try_lock();
    thread patient([&] { static_cast<void>(m.lock_blocking()); });
    overtake(m, std::move(held));
    patient.join();
    check(!m.is_locked() && m.waiters_now() == 0, "SYNC-27: nobody has it, nobody waits for it");
}

// The second in line may be late before the first has been served.
MODEL(permits_model, second_is_late) {
    semaphore s(2);
    check(s.try_acquire(2).release() == 2, "SYNC-31: both");
    int got = 0;
    thread first([&] { got += static_cast<int>(s.acquire_blocking(1).release()); });
    bool second_got = false;
    thread second([&] { second_got = s.acquire_blocking(1, roost::now() + std::chrono::hours(1)).release() == 1; });
    s.release();
    s.release();
    first.join();
    second.join();
    check(got == 1 && s.available() == (second_got ? 0U : 1U), "SYNC-31: every permit is somewhere");
}

// Both permits were there and were taken before it came; one of them given back is not enough for it.
MODEL_COMPLETE(permits_model, overtaken_by_who_gives_back_one) {
    semaphore s(2, "s", fairness::barging);
    check(s.try_acquire(2).release() == 2, "SYNC-31: both");
    thread two([&] { static_cast<void>(s.acquire_blocking(2)); });
    s.release(2);
    if (s.try_acquire(2).release() == 2) {
        s.release(1);
        s.release(1);
    }
    two.join();
    check(s.available() == 2 && s.waiters_now() == 0, "SYNC-31: every permit is back, nobody waits");
}

// One permit is not enough for a waiter that wants two.
MODEL_COMPLETE(permits_model, wants_two) {
    semaphore s(2);
    check(s.try_acquire(2).release() == 2, "SYNC-31: both");
    thread heavy([&] { check(s.acquire_blocking(2).release() == 2, "SYNC-31: both"); });
    s.release();
    s.release();
    heavy.join();
    check(s.available() == 0, "SYNC-31: every permit is somewhere");
}

}  // namespace
