// The lock of a wait list alone: exclusion, and no thread sleeps for ever (SYNC-17).

#include <roost/sync/detail/gate_lock.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::detail::gate_lock;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;

// A lock, and a value that sees a race if two are ever inside together.
struct guarded_count {
    gate_lock lock;
    plain<int> count{0};

    void visit() {
        lock.lock();
        count.set(count.get() + 1);
        lock.unlock(false);
    }
};

MODEL_COMPLETE(gate_lock_model, excludes) {
    guarded_count shared;
    thread other([&] { shared.visit(); });
    shared.visit();
    other.join();
    check(shared.count.get() == 2 && shared.lock.is_idle(), "SYNC-17");
}

MODEL_COMPLETE(gate_lock_model, three_threads) {
    guarded_count shared;
    thread a([&] { shared.visit(); });
    thread b([&] { shared.visit(); });
    shared.visit();
    a.join();
    b.join();
    check(shared.count.get() == 3 && shared.lock.is_idle(), "SYNC-17");
}

}  // namespace
