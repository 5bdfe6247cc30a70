// Every interleaving of sending, receiving, cancelling and closing (SYNC-140 .. SYNC-146).

#include <roost/sync/broadcast.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::broadcast;
using roost::wait_status;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;

// Values in the order they were sent, and how many were missed; stops when it is told that there are no more.
struct heard {
    plain<int> last{0};
    plain<int> count{0};
    plain<int> missed{0};
    plain<int> ended{0};
};

fire listen(broadcast<int>::subscriber& from, heard& to) {
    for (;;) {
        auto item = co_await from.receive();
        if (!item) {
            break;
        }
        check(*item > to.last.get(), "SYNC-140: in order");
        to.last.set(*item);
        to.count.set(to.count.get() + 1);
        to.missed.set(to.missed.get() + static_cast<int>(item.missed()));
    }
    to.ended.set(1);
}

// A value and the end, while the subscriber receives: it arrives, and then it is told.
MODEL(broadcast_model, every_value_then_the_end) {
    broadcast<int> b(2);
    auto mine = b.subscribe();
    heard all;
    b.send(1);
    thread sender([&] {
        b.send(2);
        b.close();
    });
    listen(mine, all);
    sender.join();
    check(all.count.get() == 2 && all.missed.get() == 0, "SYNC-140: every value arrives");
    check(all.ended.get() == 1 && b.waiters_now() == 0, "SYNC-142: and then the end");
}

// Room for one: what was received and what was reported missed add up to what was sent.
MODEL_COMPLETE(broadcast_model, missed_values_are_counted) {
    broadcast<int> b(1);
    auto mine = b.subscribe();
    heard all;
    b.send(1);
    thread sender([&] { b.send(2); });
    listen(mine, all);
    sender.join();
    b.close();
    check(all.count.get() + all.missed.get() == 2 && all.last.get() == 2,
          "SYNC-141: none is lost silently, the newest is kept");
}

// A receive that is cancelled has consumed nothing.
MODEL_COMPLETE(broadcast_model, send_vs_cancel) {
    broadcast<int> b(1);
    auto mine = b.subscribe();
    plain<int> resumed{0};
    {
        held_operation waiting(mine.receive(), resumed);
        thread sender([&] { b.send(7); });
        const bool cancelled = waiting.operation().try_cancel();
        sender.join();
        check(resumed.get() == (cancelled ? 0 : 1), "SYNC-143: cancelled or resumed");
        if (cancelled) {
            auto item = mine.try_receive();
            check(item && *item == 7 && item.missed() == 0, "SYNC-143: the value is still there");
        }
    }
}

// A blocked thread against the last value and the end: it never sleeps through them.
MODEL_COMPLETE(broadcast_model, thread_receives) {
    broadcast<int> b(1);
    auto mine = b.subscribe();
    thread sender([&] {
        b.send(7);
        b.close();
    });
    auto item = mine.receive_blocking();
    check(item && *item == 7, "SYNC-144: the value comes before the end");
    check(mine.receive_blocking().status() == wait_status::closed, "SYNC-144");
    sender.join();
}

// What the sender wrote before is visible to the receiver of the value.
MODEL_COMPLETE(broadcast_model, publish) {
    broadcast<int> b(1);
    auto mine = b.subscribe();
    plain<int> data{0};
    thread sender([&] {
        data.set(42);
        b.send(1);
    });
    if (mine.try_receive()) {
        check(data.get() == 42, "SYNC-140: a value carries what its sender wrote");
    }
    sender.join();
}

}  // namespace
