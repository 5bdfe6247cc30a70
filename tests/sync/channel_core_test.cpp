#include <roost/sync/channel.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using roost::channel;
using roost::wait_status;
using sync_testing::fire;

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

TEST(channel_core, SYNC_133_close_drains_the_buffer_and_hands_waiting_values_back) {
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

TEST(channel_core, SYNC_133_close_wakes_receivers) {
    channel<boxed> c(1);
    std::vector<int> got;
    receive_into(c, got);
    receive_into(c, got);
    c.close();
    EXPECT_EQ(got, (std::vector<int>{-1, -1}));
}

}  // namespace
