#include <roost/sync/event.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using roost::event;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

static_assert(sizeof(event) <= 40);
static_assert(sizeof(event::operation) <= 64, "one waiter and a pointer");
static_assert(!std::is_move_constructible_v<event> && !std::is_aggregate_v<event::operation>);

fire wait_for(event& e, int& count) {
    co_await e.wait();
    ++count;
}

TEST(event, SYNC_40_set_wakes_everyone) {
    event e("ready");
    int count = 0;
    for (int i = 0; i < 3; ++i) {
        wait_for(e, count);
    }
    EXPECT_EQ(e.waiters_now(), 3U);
    EXPECT_FALSE(e.try_wait());
    e.set();
    EXPECT_EQ(count, 3);
    EXPECT_TRUE(e.is_set());
    EXPECT_EQ(e.waiters_now(), 0U);
    EXPECT_STREQ(e.name(), "ready");
}

TEST(event, SYNC_41_set_event_lets_pass_until_reset) {
    event e("", true);
    int count = 0;
    wait_for(e, count);
    e.set();
    wait_for(e, count);
    EXPECT_EQ(count, 2);
    EXPECT_TRUE(e.reset());
    EXPECT_FALSE(e.reset());
    wait_for(e, count);
    EXPECT_EQ(count, 2);
    e.set();
    EXPECT_EQ(count, 3);
}

TEST(event, SYNC_42_reset_before_they_run_keeps_no_waiter_back) {
    event e;
    hand_executor executor;
    bool ran = false;
    hosted h = [](hand_executor&, event& ev, bool& r) -> hosted {
        co_await ev.wait();
        r = true;
    }(executor, e, ran);
    e.set();
    e.reset();
    executor.run();
    EXPECT_TRUE(ran);
}

TEST(event, SYNC_43_cancelled_waiter_is_unlinked) {
    event e;
    int count = 0;
    owned first = [](event& ev) -> owned { co_await ev.wait(); }(e);
    first.destroy();
    EXPECT_EQ(e.waiters_now(), 0U);
    wait_for(e, count);
    e.set();
    EXPECT_EQ(count, 1);
}

TEST(event, SYNC_44_blocking_forms) {
    event e;
    EXPECT_FALSE(e.wait_blocking(roost::now() + std::chrono::milliseconds(3)));
    EXPECT_EQ(e.waiters_now(), 0U);
    int seen = 0;
    int data = 0;
    std::thread waiting([&] {
        e.wait_blocking();
        seen = data;
    });
    while (e.waiters_now() == 0) {
        std::this_thread::yield();
    }
    data = 42;
    e.set();
    waiting.join();
    EXPECT_EQ(seen, 42);
    e.wait_blocking();
    EXPECT_TRUE(e.wait_blocking(roost::time_point::min()));
}

// A waiter that has passed may destroy the event although set() is still returning.
TEST(event, SYNC_45_destroyed_by_the_waiter_it_woke) {
    for (int i = 0; i < 2000; ++i) {
        auto e = std::make_unique<event>();
        std::thread setter([raw = e.get()] { raw->set(); });
        e->wait_blocking();
        e.reset();
        setter.join();
    }
}

TEST(event_death, SYNC_46_destroyed_with_waiters) {
    EXPECT_DEATH(
        {
            int count = 0;
            event e("ready");
            wait_for(e, count);
            wait_for(e, count);
        },
        "event 'ready'.*destroyed while 2 waiters were still queued");
}

TEST(event, SYNC_180_takes_only_names_that_last) {
    static_assert(!std::is_constructible_v<roost::event, const char*>);
    static_assert(!std::is_constructible_v<roost::event, std::string>);
    const auto made = std::make_unique<roost::event>(roost::literal("passed on"));
    EXPECT_STREQ(made->name(), "passed on");
}

}  // namespace
