// Permits are conserved whatever interleaves (SYNC-31 .. SYNC-38).

#include <roost/sync/semaphore.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::semaphore;
using roost::seam::atomic;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;
namespace mo = roost::seam::mo;

fire use(semaphore& s, std::uint32_t n, atomic<int>& served) {
    auto permits = co_await s.acquire(n);
    served.fetch_add(1, mo::relaxed);
}

MODEL_COMPLETE(semaphore_model, conservation) {
    semaphore s(1);
    atomic<int> served{0};
    thread other([&] { use(s, 1, served); });
    use(s, 1, served);
    other.join();
    check(served.load(mo::relaxed) == 2 && s.available() == 1 && s.in_use() == 0, "SYNC-31: everything is given back");
}

// SYNC-32: the permit comes at any moment between the try that failed and the place in the queue, and from the waiter's
// point of view from nowhere: the releasing thread checks the queue only once.
MODEL_COMPLETE(semaphore_model, SYNC_32_release_between_try_and_registration) {
    semaphore s(0);
    atomic<int> served{0};
    check(!s.try_acquire(), "nothing there yet");
    thread giver([&] { s.add_permits(2); });
    use(s, 1, served);
    giver.join();
    check(served.load(mo::relaxed) == 1, "SYNC-32: not missed");
    check(s.available() == 2 && s.waiters_now() == 0, "SYNC-32: exactly one was taken, and is back");
}

// The same for a thread: a permit that is missed is a deadlock.
MODEL_COMPLETE(semaphore_model, SYNC_32_thread_misses_no_release) {
    semaphore s(0);
    thread giver([&] { s.add_permits(1); });
    auto mine = s.acquire_blocking();
    check(mine.count() == 1 && s.available() == 0, "SYNC-32");
    giver.join();
}

// Another thread takes what came: the waiter stays, and gets the next one.
MODEL_COMPLETE(semaphore_model, SYNC_32_stolen_permit_leaves_the_waiter_waiting) {
    semaphore s(0);
    atomic<int> served{0};
    thread giver([&] { s.add_permits(1); });
    auto stolen = s.try_acquire();
    use(s, 1, served);
    giver.join();
    check(served.load(mo::relaxed) + static_cast<int>(s.waiters_now()) == 1, "served or still waiting");
    stolen.give_back();
    check(served.load(mo::relaxed) == 1 && s.available() == 1, "SYNC-32: what was stolen comes back to it");
}

// The fast paths alone: the plain counter sees a race if a permit does not carry what its holder wrote.
MODEL_COMPLETE(semaphore_model, publish) {
    semaphore s(1);
    plain<int> shared{0};
    const auto visit = [&] {
        if (auto permit = s.try_acquire()) {
            shared.set(shared.get() + 1);
        }
    };
    thread other(visit);
    visit();
    other.join();
    check(shared.get() >= 1 && s.available() == 1, "SYNC-31");
}

// Release (tokio#4618) against cancel of the first of two.
MODEL_COMPLETE(semaphore_model, release_vs_cancel) {
    semaphore s(1);
    plain<int> first{0};
    atomic<int> served{0};
    auto held = s.try_acquire();
    held_operation one(s.acquire(), first);
    use(s, 1, served);
    thread releaser([&] { held.give_back(); });
    const bool cancelled = one.operation().try_cancel();
    releaser.join();
    check(first.get() == (cancelled ? 0 : 1), "");
    check(served.load(mo::relaxed) == 1, "SYNC-35: the second waiter is always served");
    check(s.available() == 1 && s.waiters_now() == 0, "SYNC-35: the permit is neither lost nor doubled");
}

// The head that needs more than there is leaves; the small one behind it must not be forgotten.
MODEL_COMPLETE(semaphore_model, cancelled_head) {
    semaphore s(2);
    plain<int> large{0};
    atomic<int> small{0};
    auto held = s.try_acquire(1);
    held_operation two(s.acquire(2), large);
    thread other([&] { use(s, 1, small); });
    const bool cancelled = two.operation().try_cancel();
    other.join();
    check(cancelled && small.load(mo::relaxed) == 1, "SYNC-34: what kept it waiting has left");
    held.give_back();
    check(s.available() == 2, "");
}

MODEL_COMPLETE(semaphore_model, thread_deadline_vs_release) {
    semaphore s(1);
    atomic<int> served{0};
    auto held = s.try_acquire();
    thread sleeper([&] {
        auto mine = s.acquire_blocking(1, roost::now() + roost::duration(1));
        served.fetch_add(mine ? 1 : 0, mo::relaxed);
    });
    held.give_back();
    sleeper.join();
    check(s.available() == 1 && s.waiters_now() == 0, "SYNC-38: never lost, never doubled");
}

// Two permits are given back, one goes to the waiter and one to a newcomer: both have seen what their holder wrote.
MODEL_COMPLETE(semaphore_model, leftover_publishes) {
    semaphore s(2);
    plain<int> data{0};
    plain<int> seen{0};
    auto held = s.try_acquire(2);
    held_operation waiting(s.acquire(), seen);
    thread releaser([&] {
        data.set(42);
        held.give_back();
    });
    if (auto mine = s.try_acquire()) {
        check(data.get() == 42, "SYNC-31: permits carry what their holder wrote");
    }
    releaser.join();
    check(seen.get() == 1, "");
}

MODEL_COMPLETE(semaphore_model, add_and_reduce) {
    semaphore s(1);
    atomic<int> served{0};
    auto held = s.try_acquire();
    use(s, 1, served);
    thread other([&] {
        s.add_permits(1);
        static_cast<void>(s.reduce_permits(1));
    });
    held.give_back();
    other.join();
    check(served.load(mo::relaxed) == 1 && s.in_use() == 0 && s.available() == s.total(), "SYNC-36");
}

}  // namespace
