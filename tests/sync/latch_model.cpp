// A latch opens once, for every waiter, and may be destroyed by a waiter that passed (SYNC-90 .. SYNC-93).

#include <roost/sync/latch.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

#include <utility>

namespace {

using roost::latch;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::held_operation;

MODEL_COMPLETE(latch_model, publish) {
    latch l(2);
    plain<int> a{0};
    plain<int> b{0};
    thread other([&] {
        a.set(1);
        l.count_down();
    });
    b.set(1);
    l.count_down();
    if (l.is_open()) {
        check(a.get() + b.get() == 2, "SYNC-90: everybody's writes are visible");
    }
    other.join();
}

// There is a waiter, so the last step is taken under the lock; a thread that only checks must see all writes all the same.
MODEL_COMPLETE(latch_model, late_pass) {
    latch l(2);
    plain<int> a{0};
    plain<int> b{0};
    plain<int> resumed{0};
    held_operation waiting(l.wait(), resumed);
    thread one([&] {
        a.set(1);
        l.count_down();
    });
    thread two([&] {
        b.set(1);
        l.count_down();
    });
    if (l.is_open()) {
        check(a.get() + b.get() == 2, "SYNC-90: everybody's writes are visible");
    }
    one.join();
    two.join();
    check(resumed.get() == 1, "SYNC-90");
}

// A waiter that leaves must not undo a count that comes at the same time.
MODEL_COMPLETE(latch_model, cancel_vs_count) {
    latch l(2);
    plain<int> resumed{0};
    held_operation waiting(l.wait(), resumed);
    thread other([&] { l.count_down(); });
    check(waiting.operation().try_cancel(), "it is not open yet");
    l.count_down();
    other.join();
    check(l.is_open(), "SYNC-92: the count stays");
}

MODEL_COMPLETE(latch_model, late_wait) {
    latch l(1);
    plain<int> data{0};
    thread other([&] {
        data.set(42);
        l.count_down();
    });
    l.wait_blocking();
    check(data.get() == 42, "SYNC-90");
    other.join();
}

MODEL_COMPLETE(latch_model, wait_cancel_and_open) {
    latch l(2);
    plain<int> resumed{0};
    held_operation waiting(l.wait(), resumed);
    thread other([&] { l.count_down(); });
    l.count_down();
    const bool cancelled = waiting.operation().try_cancel();
    other.join();
    check(l.is_open() && l.waiters_now() == 0, "");
    check(resumed.get() == (cancelled ? 0 : 1), "SYNC-92: cancelled or let through");
}

MODEL_COMPLETE(latch_model, destroyed_by_one_that_passed) {
    auto* l = new (roost::seam::allocate(sizeof(latch))) latch(1);
    thread other([l] { l->count_down(); });
    l->wait_blocking();
    l->~latch();
    roost::seam::deallocate(l, sizeof(latch));
    other.join();
}

// Two arrive and wait; the first to pass destroys it, wherever the other one is.
MODEL_COMPLETE(latch_model, destroyed_by_the_first_of_two_arrivals) {
    auto* l = new (roost::seam::allocate(sizeof(latch))) latch(2);
    roost::seam::atomic<int> passed{0};
    plain<int> data[2] = {plain<int>{0}, plain<int>{0}};
    const auto arrive = [&](int who) {
        data[who].set(1);
        [](latch* at, roost::seam::atomic<int>& n, plain<int>* seen) -> sync_testing::fire {
            co_await at->arrive_and_wait();
            check(seen[0].get() + seen[1].get() == 2, "SYNC-91: everybody's writes are visible");
            if (n.fetch_add(1, roost::seam::mo::relaxed) == 0) {
                at->~latch();
                roost::seam::deallocate(at, sizeof(latch));
            }
        }(l, passed, data);
    };
    thread other([&] { arrive(1); });
    arrive(0);
    other.join();
    check(passed.load(roost::seam::mo::relaxed) == 2, "SYNC-91: both passed");
}

// The last arrival passes without the lock's former holders: it must see what was written before a plain count.
MODEL_COMPLETE(latch_model, arrive_vs_count) {
    latch l(2);
    plain<int> a{0};
    plain<int> b{0};
    thread other([&] {
        a.set(1);
        l.count_down();
        if (l.is_open()) {
            check(b.get() == 1, "SYNC-91: an arrival carries what was written before it");
        }
    });
    b.set(1);
    l.arrive_and_wait_blocking();
    check(a.get() + b.get() == 2, "SYNC-91: everybody's writes are visible");
    other.join();
}

MODEL_COMPLETE(latch_model, arrival_vs_deadline) {
    latch l(2);
    thread other([&] { l.arrive_and_wait_blocking(); });
    static_cast<void>(l.arrive_and_wait_blocking(roost::now() + roost::duration(1)));
    other.join();
    check(l.is_open() && l.waiters_now() == 0, "SYNC-91: the count stands");
}

}  // namespace
