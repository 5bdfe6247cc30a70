// What channels do when memory runs out, and that giving a value back asks for none.

#include <roost/sync/channel.hpp>
#include <roost/sync/interruptible.hpp>

#include "coroutines.hpp"
#include "counted_memory.hpp"

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <vector>

namespace {

using roost::channel;
using roost::wait_status;
using sync_testing::allocations;
using sync_testing::allocations_left;
using sync_testing::hand_executor;
using sync_testing::hosted;

class channel_slots : public ::testing::Test {
protected:
    void SetUp() override {
        if (!sync_testing::memory_is_counted) {
            GTEST_SKIP() << "this build's operator new cannot fail";
        }
    }
};

using boxed = std::unique_ptr<int>;
boxed box(int i) { return std::make_unique<int>(i); }

hosted receive_one(hand_executor&, channel<boxed>& c, std::vector<int>& log) {
    auto got = co_await c.receive();
    log.push_back(got ? **got : -1);
}
// Waits when there is nothing to allocate any more.
hosted receive_without_memory(hand_executor&, channel<boxed>& c, std::vector<int>& log) {
    try {
        allocations_left = 0;
        auto got = co_await c.receive();
        log.push_back(got ? **got : -1);
    } catch (const std::bad_alloc&) {
        allocations_left = -1;
        log.push_back(-2);
    }
}

template <class Send>
void send_fails(Send send) {
    channel<int> c(channel<int>::unbounded);
    ASSERT_TRUE(c.try_send(0));
    bool threw = false;
    while (!threw) {  // until it would have to grow
        allocations_left = 0;
        try {
            ASSERT_TRUE(c.try_send(0));
        } catch (const std::bad_alloc&) {
            threw = true;
        }
        allocations_left = -1;
    }
    const std::size_t full = c.size();
    threw = false;
    hand_executor executor;
    int mine = 7;
    hosted h = [](hand_executor&, channel<int>& cc, int& v, Send how, bool& t) -> hosted {
        try {
            allocations_left = 0;
            static_cast<void>(co_await how(cc, v));
        } catch (const std::bad_alloc&) {
            t = true;
        }
        allocations_left = -1;
    }(executor, c, mine, send, threw);
    EXPECT_TRUE(threw);
    EXPECT_EQ(c.size(), full) << "nothing has happened";
    EXPECT_TRUE(c.try_send(mine));
}

TEST_F(channel_slots, SYNC_170_stopped_send_without_memory_throws) {
    std::stop_source source;
    send_fails([](channel<int>& c, int& v) { return c.send(v); });
    send_fails([t = source.get_token()](channel<int>& c, int& v) { return roost::with_stop(c.send(v), t); });
    send_fails([t = source.get_token()](channel<int>& c, int& v) { return roost::with_stop(c.send_from(v), t); });
}

TEST_F(channel_slots, SYNC_171_values_come_back_without_memory) {
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, channel<boxed>::unbounded}) {
        channel<boxed> c(limit);
        hand_executor executor;
        std::vector<int> got;
        std::vector<hosted> never_run;
        for (int i = 0; i < 5; ++i) {
            never_run.push_back(receive_one(executor, c, got));
            ASSERT_TRUE(c.try_send(box(i)));
        }
        int fill = 5;
        for (; fill < 15 && c.try_send(box(fill)); ++fill) {}
        EXPECT_EQ(executor.forget(), 5);
        allocations_left = 0;
        for (hosted& h : never_run) {
            h.destroy();
        }
        EXPECT_EQ(allocations_left, 0) << "nothing was allocated";
        allocations_left = -1;
        std::vector<int> back;
        while (auto value = c.try_receive()) {
            back.push_back(**value);
        }
        ASSERT_EQ(back.size(), static_cast<std::size_t>(fill)) << "every value came back";
        EXPECT_EQ((std::vector<int>(back.begin(), back.begin() + 5)), (std::vector<int>{4, 3, 2, 1, 0}))
            << "SYNC-135: before all others, the last that came back first";
        for (int i = 5; i < fill; ++i) {
            EXPECT_EQ(back[static_cast<std::size_t>(i)], i) << "SYNC-130";
        }
    }
}

TEST_F(channel_slots, SYNC_171_no_memory_for_a_slot_throws_and_changes_nothing) {
    for (const std::size_t limit : {std::size_t{0}, std::size_t{3}, channel<boxed>::unbounded}) {
        channel<boxed> c(limit);
        hand_executor executor;
        std::vector<int> got;
        hosted first = receive_one(executor, c, got);
        hosted second = receive_without_memory(executor, c, got);
        EXPECT_EQ(got, (std::vector<int>{-2}));
        EXPECT_EQ(c.receivers_now(), 1U);
        hosted third = receive_one(executor, c, got);
        EXPECT_TRUE(c.try_send(box(1)));
        EXPECT_TRUE(c.try_send(box(2)));
        executor.run();
        EXPECT_EQ(got, (std::vector<int>{-2, 1, 2}));
    }
}

TEST_F(channel_slots, SYNC_171_stopped_receive_gives_its_slot_back) {
    channel<boxed> c(0);
    hand_executor executor;
    for (int i = 0; i < 100; ++i) {
        std::stop_source source;
        wait_status how = wait_status::done;
        hosted h = [](hand_executor&, channel<boxed>& cc, std::stop_token t, wait_status& s) -> hosted {
            auto got = co_await roost::with_stop(cc.receive(), t);
            s = got.status();
        }(executor, c, source.get_token(), how);
        const long before = allocations;
        source.request_stop();
        executor.run();
        EXPECT_EQ(how, wait_status::cancelled);
        EXPECT_EQ(allocations, before);
    }
    std::vector<int> got;
    allocations_left = -1;
    hosted again = receive_without_memory(executor, c, got);
    allocations_left = -1;
    EXPECT_TRUE(got.empty()) << "the one place is free again";
    again.destroy();
}

// Only the first time that so many wait at once.
TEST_F(channel_slots, SYNC_171_slots_are_used_again) {
    channel<int> c(0);
    hand_executor executor;
    int sum = 0;
    const auto receive = [](hand_executor&, channel<int>& cc, int& s) -> hosted {
        for (;;) {
            auto got = co_await cc.receive();
            if (!got) {
                break;
            }
            s += *got;
        }
    };
    std::vector<hosted> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(receive(executor, c, sum));
    }
    const long before = allocations;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(c.try_send(1));
        if (i % 7 == 0) {
            executor.run();
        }
    }
    executor.run();
    EXPECT_EQ(sum, 1000);
    EXPECT_EQ(allocations, before);
    c.close();
    executor.run();
}

TEST_F(channel_slots, SYNC_172_receiver_may_run_when_the_channel_is_gone) {
    hand_executor executor;
    std::vector<int> got;
    std::optional<channel<boxed>> c(std::in_place, 0U);
    hosted first = receive_one(executor, *c, got);
    hosted second = receive_one(executor, *c, got);
    hosted third = receive_one(executor, *c, got);
    EXPECT_TRUE(c->try_send(box(1)));
    EXPECT_TRUE(c->try_send(box(2)));
    EXPECT_TRUE(executor.run_one());
    c->close();
    c.reset();
    executor.run();
    EXPECT_EQ(got, (std::vector<int>{1, 2, -1}));
}

}  // namespace
