// The lock of a wait list alone: exclusion, and nobody sleeps for ever (SYNC-17).

#include <roost/sync/detail/gate_lock.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::plain;
using roost::thread;
using roost::detail::gate_lock;
using roost::testing::check;

MODEL(gate_lock_model, excludes) {
    gate_lock l;
    plain<int> shared{0};
    const auto visit = [&] {
        l.lock();
        shared.set(shared.get() + 1);
        l.unlock(false);
    };
    thread other(visit);
    visit();
    other.join();
    check(shared.get() == 2 && l.is_idle(), "SYNC-17");
}

// With three, somebody may park behind somebody who is parked: each unlock must look again.
MODEL(gate_lock_model, three_threads) {
    gate_lock l;
    plain<int> shared{0};
    const auto visit = [&] {
        l.lock();
        shared.set(shared.get() + 1);
        l.unlock(false);
    };
    thread a(visit);
    thread b(visit);
    visit();
    a.join();
    b.join();
    check(shared.get() == 3 && l.is_idle(), "SYNC-17");
}

}  // namespace
