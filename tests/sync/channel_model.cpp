// No value is lost or doubled, whatever interleaves (SYNC-130 .. SYNC-136).

#include <roost/sync/channel.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

#include <optional>

namespace {

using roost::channel;
using roost::wait_status;
using roost::seam::atomic;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;
namespace mo = roost::seam::mo;

fire send_one(channel<int>& c, int value, atomic<int>& sent, atomic<int>& back) {
    auto result = co_await c.send(value);
    if (result) {
        sent.fetch_add(value, mo::relaxed);
    } else {
        back.fetch_add(result.take_back(), mo::relaxed);
    }
}

MODEL_COMPLETE(channel_model, rendezvous) {
    channel<int> c(0);
    plain<int> data{0};
    thread sender([&] {
        data.set(7);
        check(static_cast<bool>(c.send_blocking(1)), "SYNC-131");
    });
    auto got = c.receive_blocking();
    check(got && *got == 1 && data.get() == 7, "SYNC-131: the value and what was written before it");
    sender.join();
}

// One receives and closes, in either order, while another sends: few enough steps to try them all.
void receive_and_close_vs_send(bool closes_first) {
    channel<int> c(0);
    atomic<int> sent{0};
    atomic<int> back{0};
    thread sender([&] { send_one(c, 1, sent, back); });
    if (closes_first) {
        c.close();
    }
    auto got = c.try_receive();
    c.close();
    sender.join();
    check(sent.load(mo::relaxed) + back.load(mo::relaxed) == 1, "SYNC-133: sent or handed back, exactly one");
    check((got ? *got : 0) == sent.load(mo::relaxed) && c.waiters_now() == 0, "SYNC-133: what was sent was received");
}

MODEL_COMPLETE(channel_model, receive_then_close_vs_send) { receive_and_close_vs_send(false); }
MODEL_COMPLETE(channel_model, close_then_receive_vs_send) { receive_and_close_vs_send(true); }

// The same with a thread each.
MODEL_COMPLETE(channel_model, close_vs_send) {
    channel<int> c(0);
    atomic<int> sent{0};
    atomic<int> back{0};
    thread sender([&] { send_one(c, 1, sent, back); });
    thread closer([&] { c.close(); });
    auto got = c.try_receive();
    const int received = got ? *got : 0;
    sender.join();
    closer.join();
    check(sent.load(mo::relaxed) + back.load(mo::relaxed) == 1, "SYNC-133: sent or handed back, exactly one");
    check(received == sent.load(mo::relaxed), "SYNC-133: what was sent was received");
    check(c.waiters_now() == 0, "");
}

// Cancel against receive: the value is delivered or stays where it was.
MODEL_COMPLETE(channel_model, cancel_vs_receive) {
    channel<int> c(0);
    plain<int> resumed{0};
    int mine = 5;
    held_operation sending(c.send_from(mine), resumed);
    thread receiver([&] {
        auto got = c.try_receive();
        check(!got || *got == 5, "");
    });
    const bool cancelled = sending.operation().try_cancel();
    receiver.join();
    check(resumed.get() == (cancelled ? 0 : 1), "SYNC-134: cancelled or delivered, not both and not neither");
}

// Close and cancel against send, from two sides so that every interleaving can be tried.
MODEL_COMPLETE(channel_model, cancel_and_close_vs_send) {
    channel<int> c(1);
    plain<int> resumed{0};
    held_operation receiving(c.receive(), resumed);
    bool is_sent = false;
    thread sender([&] { is_sent = static_cast<bool>(c.try_send(1)); });
    const bool cancelled = receiving.operation().try_cancel();
    c.close();
    sender.join();
    check(resumed.get() == (cancelled ? 0 : 1), "SYNC-133");
    auto left = c.try_receive();
    check(static_cast<bool>(left) == (cancelled && is_sent),
          "SYNC-135: sent to the receiver, or still there, or handed back");
}

// Close, send and cancel of a waiting receiver, all at once.
MODEL_COMPLETE(channel_model, close_vs_send_vs_cancel) {
    channel<int> c(1);
    plain<int> resumed{0};
    held_operation receiving(c.receive(), resumed);
    atomic<int> sent{0};
    thread sender([&] { sent.fetch_add(c.try_send(1) ? 1 : 0, mo::relaxed); });
    thread closer([&] { c.close(); });
    const bool cancelled = receiving.operation().try_cancel();
    sender.join();
    closer.join();
    check(resumed.get() == (cancelled ? 0 : 1), "SYNC-133: woken by a value or by close, unless cancelled");
    auto left = c.try_receive();
    if (cancelled) {
        check((left ? 1 : 0) == sent.load(mo::relaxed), "SYNC-135: a value that nobody took is still there");
    }
}

// A receiver that has its value runs while the channel goes: the last of the two frees the count of places.
MODEL_COMPLETE(channel_model, slots_outlive_the_channel) {
    std::optional<channel<int>> c(std::in_place, 0U);
    plain<int> resumed{0};
    sync_testing::hand_executor executor;
    sync_testing::hosted receiving = [](sync_testing::hand_executor&, channel<int>& from,
                                        plain<int>& n) -> sync_testing::hosted {
        auto got = co_await from.receive();
        n.set(got ? *got : 0);
    }(executor, *c, resumed);
    check(static_cast<bool>(c->try_send(7)), "SYNC-131: a receiver is there");
    thread runner([&] { executor.run(); });
    c.reset();
    runner.join();
    check(resumed.get() == 7, "SYNC-172: the value was there although the channel was not");
}

// A receiver that was given a value is dropped while another one comes: the value has a place, or a new owner.
MODEL_COMPLETE(channel_model, dropped_receiver_vs_receive) {
    channel<int> c(0);
    plain<int> resumed{0};
    sync_testing::hand_executor executor;
    sync_testing::hosted dropped = [](sync_testing::hand_executor&, channel<int>& from) -> sync_testing::hosted {
        static_cast<void>(co_await from.receive());
    }(executor, c);
    check(static_cast<bool>(c.try_send(7)), "");
    executor.forget();
    thread other([&] { dropped.destroy(); });
    held_operation next(c.receive(), resumed);
    other.join();
    check(resumed.get() == 1 && c.size() == 0 && c.waiters_now() == 0, "SYNC-171: it goes to the next receiver");
}

MODEL_COMPLETE(channel_model, blocked_receiver_vs_deadline) {
    channel<int> c(1);
    thread sender([&] { check(static_cast<bool>(c.try_send(1)), ""); });
    auto got = c.receive_blocking(roost::now() + roost::duration(1));
    sender.join();
    auto rest = c.try_receive();
    check((got ? 1 : 0) + (rest ? 1 : 0) == 1, "SYNC-136: received once, now or later");
}

// A thread that receives while another closes: it is woken, or it would sleep for ever.
MODEL_COMPLETE(channel_model, blocked_receiver_vs_close) {
    channel<int> c(1);
    thread closer([&] { c.close(); });
    check(c.receive_blocking().status() == wait_status::closed, "SYNC-133");
    closer.join();
}

MODEL_COMPLETE(channel_model, unbounded_grows) {
    channel<int> c(channel<int>::unbounded);
    thread sender([&] { check(static_cast<bool>(c.try_send(1)), ""); });
    check(static_cast<bool>(c.try_send(2)), "");
    sender.join();
    auto a = c.try_receive();
    auto b = c.try_receive();
    check(a && b && *a + *b == 3, "SYNC-132");
}

// Two senders find no room at once: both make some, and nothing is lost.
MODEL_COMPLETE(channel_model, two_make_room) {
    channel<int> c(channel<int>::unbounded);
    check(static_cast<bool>(c.try_send(0)), "SYNC-132: a send never waits");  // what fits without asking for memory
    thread other([&] { check(static_cast<bool>(c.try_send(1)), "SYNC-132: a send never waits"); });
    check(static_cast<bool>(c.try_send(2)), "SYNC-132: a send never waits");
    other.join();
    check(c.size() == 3, "SYNC-132: both are there");
}

}  // namespace
