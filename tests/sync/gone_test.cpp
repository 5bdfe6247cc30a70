// A waiter that has been woken needs its primitive no more: that may be gone when the waiter is stopped, and when it runs.
// AddressSanitizer is the judge; gone_model.cpp asks the explorer the same.

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/waiter_queue.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

namespace {

using namespace roost;  // NOLINT: nearly every primitive is named here
using sync_testing::hand_executor;
using sync_testing::hosted;

template <class Operation>
hosted wait_with(hand_executor&, Operation operation, std::stop_token token, int& ran) {
    auto result = co_await with_stop(std::move(operation), std::move(token));
    ran += result ? 1 : 100;
}

template <class Primitive>
std::size_t waiters_of(const Primitive& on) {
    if constexpr (std::is_same_v<Primitive, waiter_queue>) {
        return on.size_approx();
    } else {
        return on.waiters_now();
    }
}

// Waits, is woken, loses the primitive, is stopped, runs: in this order.
template <class Primitive, class Wait, class Wake>
void stop_when_gone(std::unique_ptr<Primitive> on, Wait wait, Wake wake) {
    hand_executor executor;
    std::stop_source source;
    int ran = 0;
    hosted h = wait_with(executor, wait(*on), source.get_token(), ran);
    wake(*on);
    EXPECT_EQ(waiters_of(*on), 0U);
    on.reset();
    source.request_stop();
    EXPECT_EQ(executor.run(), 1);
    EXPECT_EQ(ran, 1) << "the wake came first";
}

TEST(gone, SYNC_45_event_is_gone_when_the_woken_is_stopped) {
    stop_when_gone(std::make_unique<event>(), [](event& e) { return e.wait(); }, [](event& e) { e.set(); });
}

TEST(gone, SYNC_93_latch_is_gone_when_the_woken_is_stopped) {
    stop_when_gone(std::make_unique<latch>(1U), [](latch& l) { return l.wait(); }, [](latch& l) { l.count_down(); });
}

TEST(gone, SYNC_174_barrier_is_gone_when_the_woken_is_stopped) {
    stop_when_gone(
        std::make_unique<barrier>(2U), [](barrier& b) { return b.arrive_and_wait(); },
        [](barrier& b) { static_cast<void>(b.arrive()); });
}

TEST(gone, SYNC_174_auto_reset_event_is_gone_when_the_woken_is_stopped) {
    stop_when_gone(
        std::make_unique<auto_reset_event>(), [](auto_reset_event& e) { return e.wait(); },
        [](auto_reset_event& e) { e.set(); });
}

TEST(gone, SYNC_174_once_is_gone_when_the_woken_is_stopped) {
    auto on = std::make_unique<once>();
    once::turn mine = on->try_enter();
    stop_when_gone(std::move(on), [](once& o) { return o.enter(); }, [&](once&) { mine.done(); });
}

TEST(gone, SYNC_174_waiter_queue_is_gone_when_the_woken_is_stopped) {
    const auto wait = [](waiter_queue& q) { return q.wait_unless([] { return false; }); };
    stop_when_gone(std::make_unique<waiter_queue>(), wait, [](waiter_queue& q) { q.wake_one(); });
    stop_when_gone(std::make_unique<waiter_queue>(), wait, [](waiter_queue& q) { q.wake_all(); });
}

TEST(gone, SYNC_172_channel_is_gone_when_the_receiver_is_stopped) {
    stop_when_gone(
        std::make_unique<channel<int>>(0U), [](channel<int>& c) { return c.receive(); },
        [](channel<int>& c) { EXPECT_TRUE(c.try_send(1)); });
}

TEST(gone, SYNC_172_channel_is_gone_when_the_sender_is_stopped) {
    stop_when_gone(
        std::make_unique<channel<int>>(0U), [](channel<int>& c) { return c.send(1); },
        [](channel<int>& c) { EXPECT_TRUE(c.try_receive()); });
}

TEST(gone, SYNC_172_channel_is_gone_when_one_that_was_told_of_the_end_is_stopped) {
    hand_executor executor;
    std::stop_source source;
    auto c = std::make_unique<channel<int>>(0U);
    wait_status how = wait_status::done;
    hosted h = [](hand_executor&, channel<int>& from, std::stop_token t, wait_status& s) -> hosted {
        s = (co_await with_stop(from.receive(), std::move(t))).status();
    }(executor, *c, source.get_token(), how);
    c->close();
    c.reset();
    source.request_stop();
    EXPECT_EQ(executor.run(), 1);
    EXPECT_EQ(how, wait_status::closed);
}

}  // namespace
