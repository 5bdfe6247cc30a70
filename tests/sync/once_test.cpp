#include <roost/sync/once.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace {

using roost::once;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

static_assert(sizeof(once) <= 40);

fire attempt(once& o, bool succeeds, int& ran, int& passed) {
    auto turn = co_await o.enter();
    if (turn.is_mine()) {
        ++ran;
        if (succeeds) {
            turn.done();
        }
        co_return;
    }
    ++passed;
}

TEST(once, SYNC_111_first_does_it_and_the_rest_pass) {
    once o("opened");
    int ran = 0;
    int passed = 0;
    attempt(o, true, ran, passed);
    attempt(o, true, ran, passed);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(passed, 1);
    EXPECT_TRUE(o.is_done());
    EXPECT_FALSE(o.try_enter().is_mine());
}

TEST(once, SYNC_111_others_wait_until_it_is_done) {
    once o;
    auto mine = o.try_enter();
    EXPECT_TRUE(mine.is_mine());
    int ran = 0;
    int passed = 0;
    attempt(o, true, ran, passed);
    attempt(o, true, ran, passed);
    EXPECT_EQ(o.waiters_now(), 2U);
    EXPECT_FALSE(o.try_enter().is_mine());
    mine.done();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(passed, 2);
}

TEST(once, SYNC_112_failed_turn_goes_to_the_next) {
    once o;
    int ran = 0;
    int passed = 0;
    {
        auto mine = o.try_enter();
        attempt(o, false, ran, passed);
        attempt(o, true, ran, passed);
        attempt(o, true, ran, passed);
    }
    EXPECT_EQ(ran, 2) << "one more failure, then success";
    EXPECT_EQ(passed, 1);
    EXPECT_TRUE(o.is_done());
}

TEST(once, SYNC_112_failure_without_waiters_starts_afresh) {
    once o;
    EXPECT_THROW(o.call_blocking([] { throw std::runtime_error("no"); }), std::runtime_error);
    EXPECT_FALSE(o.is_done());
    int ran = 0;
    o.call_blocking([&] { ++ran; });
    o.call_blocking([&] { ++ran; });
    EXPECT_EQ(ran, 1);
}

TEST(once, SYNC_113_turn_of_a_waiter_that_never_ran_is_passed_on) {
    once o;
    hand_executor executor;
    int ran = 0;
    int passed = 0;
    auto mine = o.try_enter();
    hosted heir = [](hand_executor&, once& oo) -> hosted { auto t = co_await oo.enter(); }(executor, o);
    owned cancelled = [](once& oo) -> owned { auto t = co_await oo.enter(); }(o);
    attempt(o, true, ran, passed);
    cancelled.destroy();
    mine = once::turn();  // fails
    executor.forget();
    heir.destroy();
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(o.is_done());
}

TEST(once, SYNC_114_threads_agree_on_one) {
    for (int round = 0; round < 200; ++round) {
        once o;
        int data = 0;
        std::atomic<int> ran{0};
        const auto work = [&] {
            o.call_blocking([&] {
                ++ran;
                data = 42;
            });
            EXPECT_EQ(data, 42);
        };
        std::thread a(work);
        std::thread b(work);
        work();
        a.join();
        b.join();
        EXPECT_EQ(ran, 1);
    }
    once busy;
    auto mine = busy.enter_blocking();
    EXPECT_TRUE(mine.is_mine());
    EXPECT_FALSE(busy.enter_blocking(roost::now() + std::chrono::milliseconds(2)).is_mine());
    EXPECT_FALSE(busy.is_done());
}

TEST(once, SYNC_114_call_with_a_deadline) {
    once o;
    int ran = 0;
    auto mine = o.try_enter();
    EXPECT_FALSE(o.call_blocking([&] { ++ran; }, roost::now() + std::chrono::milliseconds(2)));
    EXPECT_EQ(ran, 0);
    mine = once::turn();  // fails
    EXPECT_TRUE(o.call_blocking([&] { ++ran; }, roost::time_point::min())) << "nobody is at it";
    EXPECT_TRUE(o.call_blocking([&] { ++ran; }, roost::time_point::min())) << "it is done";
    EXPECT_EQ(ran, 1);
}

TEST(once_death, SYNC_115_destroyed_with_waiters) {
    EXPECT_DEATH(
        {
            int n = 0;
            once o("opened");
            auto mine = o.try_enter();
            attempt(o, true, n, n);
            o.~once();
        },
        "once 'opened'.*destroyed while 1 waiter was still queued");
}

}  // namespace
