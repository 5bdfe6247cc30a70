#include <roost/sync/broadcast.hpp>
#include <roost/sync/interruptible.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using roost::broadcast;
using roost::wait_status;
using sync_testing::fire;
using sync_testing::owned;

fire collect(broadcast<int>::subscriber& s, std::vector<int>& got, std::uint64_t& missed) {
    for (;;) {
        auto item = co_await s.receive();
        if (!item) {
            got.push_back(-1);
            co_return;
        }
        missed += item.missed();
        got.push_back(*item);
    }
}

TEST(broadcast, SYNC_140_every_subscriber_gets_every_value) {
    broadcast<int> b(4, "ticks");
    EXPECT_TRUE(b.send(0));  // without subscribers
    auto first = b.subscribe();
    auto second = b.subscribe();
    std::vector<int> one;
    std::vector<int> two;
    std::uint64_t missed = 0;
    collect(first, one, missed);
    collect(second, two, missed);
    EXPECT_EQ(b.waiters_now(), 2U);
    for (int i = 1; i <= 10; ++i) {
        EXPECT_TRUE(b.send(i));
    }
    b.close();
    EXPECT_FALSE(b.send(11));
    EXPECT_EQ(one, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1}));
    EXPECT_EQ(one, two);
    EXPECT_EQ(missed, 0U);
}

TEST(broadcast, SYNC_141_lagging_subscriber_is_told_how_much_it_missed) {
    broadcast<int> b(2);
    auto slow = b.subscribe();
    for (int i = 1; i <= 5; ++i) {
        b.send(i);
    }
    auto item = slow.try_receive();
    ASSERT_TRUE(item);
    EXPECT_EQ(*item, 4);
    EXPECT_EQ(item.missed(), 3U);
    item = slow.try_receive();
    EXPECT_EQ(*item, 5);
    EXPECT_EQ(item.missed(), 0U);
    EXPECT_EQ(slow.try_receive().status(), wait_status::would_wait);
}

TEST(broadcast, SYNC_142_close_lets_subscribers_finish) {
    broadcast<std::string> b(2);
    auto s = b.subscribe();
    b.send("last");
    b.close();
    EXPECT_EQ(*s.try_receive(), "last");
    EXPECT_EQ(s.try_receive().status(), wait_status::closed);
    EXPECT_EQ(s.receive_blocking().status(), wait_status::closed);
}

TEST(broadcast, SYNC_143_cancelled_receive_has_consumed_nothing) {
    broadcast<int> b(2);
    auto s = b.subscribe();
    owned w = [](broadcast<int>::subscriber& sub) -> owned {
        auto item = co_await sub.receive();
        EXPECT_TRUE(item);
    }(s);
    w.destroy();
    EXPECT_EQ(b.waiters_now(), 0U);
    b.send(1);
    EXPECT_EQ(*s.try_receive(), 1);
}

TEST(broadcast, SYNC_144_blocking_forms) {
    broadcast<int> b(1024);
    auto s = b.subscribe();
    EXPECT_EQ(s.receive_blocking(roost::now() + std::chrono::milliseconds(2)).status(), wait_status::expired);
    std::thread sender([&] {
        for (int i = 0; i < 1000; ++i) {
            b.send(i);
        }
        b.close();
    });
    int expected = 0;
    for (auto item = s.receive_blocking(); item; item = s.receive_blocking()) {
        ASSERT_EQ(*item, expected++);
    }
    EXPECT_EQ(expected, 1000);
    sender.join();
}

// A copy that throws has consumed nothing.
struct fragile {
    explicit fragile(bool* t) noexcept : throws(t) {}
    fragile(const fragile& other) : throws(other.throws) {
        if (*throws) {
            throw std::runtime_error("copy");
        }
    }
    fragile(fragile&&) noexcept = default;
    bool* throws;
};

TEST(broadcast, SYNC_145_throwing_copy_leaves_the_value_for_the_next_try) {
    bool throws = true;
    broadcast<fragile> b(1);
    auto s = b.subscribe();
    b.send(fragile(&throws));
    EXPECT_THROW(static_cast<void>(s.try_receive()), std::runtime_error);
    throws = false;
    EXPECT_TRUE(s.try_receive());
}

TEST(broadcast_death, SYNC_146_misuse_is_named) {
    EXPECT_DEATH(broadcast<int>(0, "ticks"), "broadcast 'ticks'.*its capacity is 0");
    // The subscriber is made last and dies first, were it not for the call: nothing uses what is gone.
    EXPECT_DEATH(
        {
            broadcast<int> b(1, "ticks");
            auto s = b.subscribe();
            b.~broadcast();
        },
        "broadcast 'ticks'.*destroyed while it had subscribers");
}

}  // namespace
