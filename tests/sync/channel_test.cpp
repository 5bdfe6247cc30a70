#include <roost/sync/channel.hpp>
#include <roost/sync/interruptible.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using roost::channel;
using roost::wait_status;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

using boxed = std::unique_ptr<int>;
boxed box(int i) { return std::make_unique<int>(i); }

fire receive_into(channel<boxed>& c, std::vector<int>& log) {
    auto got = co_await c.receive();
    log.push_back(got ? **got : -1);
}
fire send_one(channel<boxed>& c, int i, std::vector<wait_status>& log) {
    auto result = co_await c.send(box(i));
    log.push_back(result.status());
    if (result.has_value()) {
        EXPECT_EQ(*result.take_back(), i);
    }
}

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

TEST(channel, SYNC_133_close_drains_the_buffer_and_hands_waiting_values_back) {
    channel<boxed> c(1);
    std::vector<wait_status> sent;
    send_one(c, 1, sent);
    send_one(c, 2, sent);
    EXPECT_TRUE(c.close());
    EXPECT_FALSE(c.close());
    EXPECT_TRUE(c.is_closed());
    EXPECT_EQ(sent, (std::vector<wait_status>{wait_status::done, wait_status::closed}));
    std::vector<int> got;
    receive_into(c, got);
    receive_into(c, got);
    EXPECT_EQ(got, (std::vector<int>{1, -1}));
    auto refused = c.try_send(box(3));
    EXPECT_EQ(refused.status(), wait_status::closed);
    EXPECT_EQ(*refused.take_back(), 3);
    EXPECT_EQ(c.receive_blocking().status(), wait_status::closed);
}

TEST(channel, SYNC_133_close_wakes_receivers) {
    channel<boxed> c(1);
    std::vector<int> got;
    receive_into(c, got);
    receive_into(c, got);
    c.close();
    EXPECT_EQ(got, (std::vector<int>{-1, -1}));
}

TEST(channel, SYNC_134_cancelled_send_hands_its_value_back) {
    channel<boxed> c(0);
    hand_executor executor;
    std::stop_source source;
    int back = 0;
    wait_status how = wait_status::done;
    hosted h = [](hand_executor&, channel<boxed>& cc, std::stop_token t, int& b, wait_status& s) -> hosted {
        auto result = co_await roost::with_stop(cc.send(box(5)), t);
        s = result.status();
        b = *result.take_back();
    }(executor, c, source.get_token(), back, how);
    source.request_stop();
    executor.run();
    EXPECT_EQ(how, wait_status::cancelled);
    EXPECT_EQ(back, 5);
    EXPECT_EQ(c.senders_now(), 0U);
}

TEST(channel, SYNC_134_send_from_leaves_the_value_where_it_is) {
    channel<boxed> c(0);
    boxed mine = box(5);
    owned h = [](channel<boxed>& cc, boxed& m) -> owned { auto r = co_await cc.send_from(m); }(c, mine);
    h.destroy();
    ASSERT_TRUE(mine);
    EXPECT_EQ(*mine, 5);
    owned again = [](channel<boxed>& cc, boxed& m) -> owned { auto r = co_await cc.send_from(m); }(c, mine);
    std::vector<int> got;
    receive_into(c, got);
    EXPECT_EQ(got, (std::vector<int>{5}));
    EXPECT_FALSE(mine);
}

TEST(channel, SYNC_135_value_of_a_receiver_that_never_ran_goes_to_the_next) {
    channel<boxed> c(1);
    hand_executor executor;
    std::vector<int> got;
    hosted first = [](hand_executor&, channel<boxed>& cc) -> hosted { auto r = co_await cc.receive(); }(executor, c);
    EXPECT_TRUE(c.try_send(box(1)));
    EXPECT_TRUE(c.try_send(box(2)));
    EXPECT_EQ(c.size(), 1U);
    executor.forget();
    first.destroy();
    EXPECT_EQ(c.size(), 2U) << "one more than agreed, rather than lost";
    EXPECT_FALSE(c.try_send(box(3))) << "and the bound holds for everybody else";
    receive_into(c, got);
    receive_into(c, got);
    EXPECT_EQ(got, (std::vector<int>{1, 2}));
    hosted second = [](hand_executor&, channel<boxed>& cc) -> hosted { auto r = co_await cc.receive(); }(executor, c);
    receive_into(c, got);
    EXPECT_TRUE(c.try_send(box(4)));
    executor.forget();
    second.destroy();
    EXPECT_EQ(got, (std::vector<int>{1, 2, 4}));
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
            channel<boxed> c(1);
            static_cast<void>(c.try_send(box(1)).take_back());
        },
        "no value to take back");
}

}  // namespace
