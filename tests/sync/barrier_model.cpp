// No participant passes early, none is left behind (SYNC-101 .. SYNC-105).

#include <roost/sync/barrier.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "held_operation.hpp"

namespace {

using roost::barrier;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::held_operation;

MODEL_COMPLETE(barrier_model, meet_twice) {
    barrier b(2);
    plain<int> mine{0};
    plain<int> theirs{0};
    thread other([&] {
        theirs.set(1);
        b.arrive_and_wait_blocking();
        check(mine.get() == 1, "SYNC-101");
        b.arrive_and_wait_blocking();
    });
    mine.set(1);
    b.arrive_and_wait_blocking();
    check(theirs.get() == 1, "SYNC-101: what happened before the arrival is seen");
    b.arrive_and_wait_blocking();
    other.join();
}

// Arrived before, waits now: for this phase, or not at all.
MODEL_COMPLETE(barrier_model, wait_for_a_phase) {
    barrier b(2);
    plain<int> data{0};
    const barrier::phase mine = b.arrive();
    thread other([&] {
        data.set(1);
        static_cast<void>(b.arrive());
    });
    b.wait_blocking(mine);
    check(data.get() == 1, "SYNC-105: what happened before the arrival is seen");
    other.join();
}

MODEL_COMPLETE(barrier_model, deadline_vs_arrival) {
    barrier b(2);
    const barrier::phase mine = b.arrive();
    thread other([&] { static_cast<void>(b.arrive()); });
    const bool passed = b.wait_blocking(mine, roost::now() + roost::duration(1));
    check(!passed || b.try_wait(mine), "SYNC-105: nobody passes early");
    other.join();
    check(b.try_wait(mine) && b.waiters_now() == 0, "SYNC-105: the arrival stands");
}

MODEL_COMPLETE(barrier_model, arrival_vs_cancel) {
    barrier b(2);
    plain<int> resumed{0};
    held_operation waiting(b.arrive_and_wait(), resumed);
    thread other([&] { static_cast<void>(b.arrive()); });
    const bool cancelled = waiting.operation().try_cancel();
    other.join();
    check(resumed.get() == (cancelled ? 0 : 1) && b.waiters_now() == 0, "SYNC-104");
}

}  // namespace
