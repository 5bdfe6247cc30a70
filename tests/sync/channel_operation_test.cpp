#include <roost/sync/channel.hpp>
#include <roost/sync/interruptible.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

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
TEST(channel_operation, SYNC_134_cancelled_send_hands_its_value_back) {
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

TEST(channel_operation, SYNC_134_send_from_leaves_the_value_where_it_is) {
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

TEST(channel_operation, SYNC_135_value_of_a_receiver_that_never_ran_goes_to_the_next) {
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

}  // namespace
