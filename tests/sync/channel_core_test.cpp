#include <roost/sync/channel.hpp>

#include "boxed_channel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <vector>

namespace {

using roost::channel;
using roost::wait_status;
using sync_testing::box;
using sync_testing::boxed;
using sync_testing::receive_into;
using sync_testing::send_one;

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

TEST(channel_core, SYNC_139_more_places_than_memory_can_hold) {
    EXPECT_THROW(channel<int>(PTRDIFF_MAX), std::bad_array_new_length);
    EXPECT_THROW(channel<int>(SIZE_MAX - 1), std::bad_array_new_length);
    EXPECT_THROW(channel<int>(SIZE_MAX / sizeof(int)), std::bad_array_new_length);
    const channel<int> fine(channel<int>::unbounded);
    EXPECT_EQ(fine.capacity(), channel<int>::unbounded);
}

}  // namespace
