#include <roost/sync/channel.hpp>

#include "boxed_channel.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using roost::channel;
using roost::wait_status;
using sync_testing::box;
using sync_testing::boxed;
using sync_testing::receive_into;
using sync_testing::send_one;

TEST(channel, SYNC_130_bounded_keeps_order_and_makes_senders_wait) {
    channel<boxed> c(2, "orders");
    std::vector<wait_status> sent;
    for (int i = 0; i < 4; ++i) {
        send_one(c, i, sent);
    }
    EXPECT_EQ(sent.size(), 2U);
    EXPECT_EQ(c.size(), 2U);
    EXPECT_EQ(c.senders_now(), 2U);
    std::vector<int> got;
    for (int i = 0; i < 4; ++i) {
        receive_into(c, got);
    }
    EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(sent.size(), 4U);
    EXPECT_EQ(c.waiters_now(), 0U);
}

TEST(channel, SYNC_131_rendezvous_waits_for_the_receiver) {
    channel<boxed> c(0);
    std::vector<wait_status> sent;
    std::vector<int> got;
    EXPECT_EQ(c.try_send(box(9)).status(), wait_status::would_wait);
    send_one(c, 1, sent);
    EXPECT_TRUE(sent.empty());
    receive_into(c, got);
    EXPECT_EQ(got, (std::vector<int>{1}));
    EXPECT_EQ(sent.size(), 1U);
    receive_into(c, got);
    EXPECT_EQ(c.receivers_now(), 1U);
    EXPECT_TRUE(c.try_send(box(2))) << "a receiver is there";
    EXPECT_EQ(got, (std::vector<int>{1, 2}));
}

TEST(channel, SYNC_132_unbounded_never_makes_senders_wait) {
    channel<boxed> c(channel<boxed>::unbounded);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(c.try_send(box(i)));
    }
    for (int i = 0; i < 1000; ++i) {
        auto got = c.try_receive();
        ASSERT_TRUE(got);
        EXPECT_EQ(**got, i);
    }
    EXPECT_EQ(c.try_receive().status(), wait_status::would_wait);
}

TEST(channel, SYNC_136_blocking_forms) {
    channel<boxed> c(1);
    EXPECT_EQ(c.receive_blocking(roost::now() + std::chrono::milliseconds(2)).status(), wait_status::expired);
    EXPECT_TRUE(c.send_blocking(box(0)));
    auto late = c.send_blocking(box(7), roost::now() + std::chrono::milliseconds(2));
    EXPECT_EQ(late.status(), wait_status::expired);
    EXPECT_EQ(*late.take_back(), 7);
    constexpr int count = 3000;
    std::thread producer([&] {
        for (int i = 1; i <= count; ++i) {
            EXPECT_TRUE(c.send_blocking(box(i)));
        }
        c.close();
    });
    int expected = 0;
    for (auto got = c.receive_blocking(); got; got = c.receive_blocking()) {
        ASSERT_EQ(**got, expected++);
    }
    EXPECT_EQ(expected, count + 1);
    producer.join();
}

TEST(channel_death, SYNC_137_misuse_is_named) {
    EXPECT_DEATH(
        {
            std::vector<int> got;
            channel<boxed> c(1, "orders");
            receive_into(c, got);
        },
        "channel 'orders'.*destroyed while 1 waiter was still queued");
    EXPECT_DEATH(
        {
            std::vector<wait_status> sent;
            channel<boxed> c(0, "orders");
            send_one(c, 1, sent);
            send_one(c, 2, sent);
        },
        "channel 'orders'.*destroyed while 2 waiters were still queued");
    EXPECT_DEATH(
        {
            channel<boxed> c(1);
            static_cast<void>(c.try_send(box(1)).take_back());
        },
        "no value to take back");
}

}  // namespace
