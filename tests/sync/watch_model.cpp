// Every interleaving of changes, observers, cancel and close (SYNC-150 .. SYNC-155).

#include <roost/sync/watch.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::watch;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;

fire follow(watch<int>::observer& from, plain<int>& last, plain<int>& ended) {
    for (;;) {
        const bool is_new = co_await from.changed();
        if (!is_new) {
            break;
        }
        const int value = from.get();
        check(value >= last.get(), "SYNC-151: never an older one");
        last.set(value);
    }
    ended.set(1);
}

// A change and the end, while an observer waits: no wake is lost.
MODEL_COMPLETE(watch_model, latest_then_the_end) {
    watch<int> w(0);
    auto mine = w.observe();
    plain<int> last{0};
    plain<int> ended{0};
    thread setter([&] {
        w.set(2);
        w.close();
    });
    follow(mine, last, ended);
    setter.join();
    check(ended.get() == 1 && w.waiters_now() == 0, "SYNC-150: the end is seen");
    check(last.get() == 2, "SYNC-155: and so is the last value");
}

// A change that no other follows is seen by the observer that waits for it, however it interleaves.
MODEL_COMPLETE(watch_model, no_change_is_slept_through) {
    watch<int> w(0);
    auto mine = w.observe();
    thread setter([&] { w.set(7); });
    check(mine.changed_blocking(), "SYNC-150: woken or let through");
    check(mine.get() == 7, "SYNC-151");
    setter.join();
    check(!mine.has_changed(), "SYNC-151: what was seen is not new");
}

MODEL_COMPLETE(watch_model, set_vs_cancel) {
    watch<int> w(0);
    auto mine = w.observe();
    plain<int> resumed{0};
    {
        held_operation waiting(mine.changed(), resumed);
        thread setter([&] { w.set(7); });
        const bool cancelled = waiting.operation().try_cancel();
        setter.join();
        check(resumed.get() == (cancelled ? 0 : 1), "SYNC-152: cancelled or resumed");
    }
    check(mine.has_changed() && mine.get() == 7, "SYNC-152: a cancelled wait has seen nothing");
}

// Two observers, one change: each is woken once.
MODEL_COMPLETE(watch_model, everybody_is_told) {
    watch<int> w(0);
    auto one = w.observe();
    auto two = w.observe();
    plain<int> first{0};
    plain<int> second{0};
    held_operation a(one.changed(), first);
    thread setter([&] { w.set(1); });
    held_operation b(two.changed(), second);
    setter.join();
    check(first.get() == 1 && second.get() == 1, "SYNC-150: woken or let through, once each");
}

MODEL_COMPLETE(watch_model, publish) {
    watch<int> w(0);
    plain<int> data{0};
    thread setter([&] {
        data.set(42);
        w.set(1);
    });
    if (w.get() == 1) {
        check(data.get() == 42, "SYNC-150: a value carries what its setter wrote");
    }
    setter.join();
}

}  // namespace
