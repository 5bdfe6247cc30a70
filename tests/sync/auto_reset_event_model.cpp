// One signal, one pass, whatever interleaves (SYNC-80 .. SYNC-83).

#include <roost/sync/auto_reset_event.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"
#include "two_writers.hpp"

namespace {

using roost::auto_reset_event;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::held_operation;
using sync_testing::two_writers;

MODEL_COMPLETE(auto_reset_event_model, publish) {
    auto_reset_event e;
    plain<int> data{0};
    thread setter([&] {
        data.set(42);
        e.set();
    });
    if (e.try_wait()) {
        check(data.get() == 42, "SYNC-80: the setter's writes are visible");
    }
    setter.join();
}

MODEL_COMPLETE(auto_reset_event_model, late_wait) {
    auto_reset_event e;
    plain<int> data{0};
    thread setter([&] {
        data.set(42);
        e.set();
    });
    e.wait_blocking();
    check(data.get() == 42, "SYNC-80");
    setter.join();
    check(!e.try_wait(), "SYNC-80: the signal was taken once");
}

// Two sets, of which the second may find the first one's signal still there: the waiter that takes it has both setters' writes.
MODEL_COMPLETE(auto_reset_event_model, two_setters) {
    auto_reset_event e;
    two_writers writers;
    thread a([&] { writers.write_first(e); });
    thread b([&] { writers.write_second(e); });
    const bool both = writers.have_both_signalled();
    if (e.try_wait() && both) {
        check(writers.are_both_seen(), "SYNC-81: the second set publishes, too");
    }
    a.join();
    b.join();
}

// The only waiter leaves between a setter's look and its lock: the signal is kept, with both setters' writes.
MODEL_COMPLETE(auto_reset_event_model, left_alone) {
    auto_reset_event e;
    plain<int> resumed{0};
    two_writers writers;
    held_operation waiting(e.wait(), resumed);
    thread a([&] { writers.write_first(e); });
    thread b([&] {
        if (waiting.operation().try_cancel()) {
            writers.write_second(e);
        }
    });
    if (writers.have_both_signalled() && e.try_wait()) {
        check(writers.are_both_seen(), "SYNC-81: whoever takes the signal has every setter's writes");
    }
    a.join();
    b.join();
}

// One signal, two takers, one of them through the slow path.
MODEL_COMPLETE(auto_reset_event_model, two_takers) {
    auto_reset_event e("", true);
    roost::seam::atomic<int> taken{0};
    thread other([&] { taken.fetch_add(e.try_wait() ? 1 : 0, roost::seam::mo::relaxed); });
    auto operation = e.wait();
    const bool queued = operation.start(roost::ext::resume_target(nullptr, +[](roost::ext::work&) noexcept {}, {}));
    other.join();
    check(taken.load(roost::seam::mo::relaxed) == (queued ? 1 : 0), "SYNC-80: the signal is taken once");
    if (queued) {
        check(operation.try_cancel(), "");
    }
}

MODEL_COMPLETE(auto_reset_event_model, cancel_race) {
    auto_reset_event e;
    plain<int> resumed{0};
    plain<int> data{0};
    held_operation waiting(e.wait(), resumed);
    thread setter([&] {
        data.set(42);
        e.set();
    });
    const bool cancelled = waiting.operation().try_cancel();
    if (cancelled && e.try_wait()) {
        check(data.get() == 42, "SYNC-82");
        e.set();
    }
    setter.join();
    check(resumed.get() == (cancelled ? 0 : 1), "SYNC-82: cancelled or woken");
    check(e.try_wait() == cancelled, "SYNC-82: a signal that nobody took is kept, one that was taken is gone");
}

MODEL_COMPLETE(auto_reset_event_model, two_waiters_two_sets) {
    auto_reset_event e;
    plain<int> first{0};
    plain<int> second{0};
    held_operation one(e.wait(), first);
    thread setter([&] { e.set(); });
    held_operation two(e.wait(), second);
    setter.join();
    check(first.get() == 1 && second.get() == 0, "SYNC-80: first in, first out");
    e.set();
    check(second.get() == 1 && !e.try_wait(), "");
}

}  // namespace
