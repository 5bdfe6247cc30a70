#include <roost/sync/auto_reset_event.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using roost::auto_reset_event;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

static_assert(sizeof(auto_reset_event) <= 40);

fire wait_for(auto_reset_event& e, std::vector<int>& log, int id) {
    co_await e.wait();
    log.push_back(id);
}

TEST(auto_reset_event, SYNC_80_one_signal_lets_one_pass) {
    auto_reset_event e("tick");
    std::vector<int> log;
    wait_for(e, log, 1);
    wait_for(e, log, 2);
    EXPECT_EQ(e.waiters_now(), 2U);
    e.set();
    EXPECT_EQ(log, (std::vector<int>{1}));
    e.set();
    EXPECT_EQ(log, (std::vector<int>{1, 2}));
    EXPECT_FALSE(e.try_wait()) << "both signals were taken";
}

TEST(auto_reset_event, SYNC_81_signals_are_kept_but_do_not_add_up) {
    auto_reset_event e;
    e.set();
    e.set();
    EXPECT_TRUE(e.try_wait());
    EXPECT_FALSE(e.try_wait());
    e.set();
    EXPECT_TRUE(e.reset());
    std::vector<int> log;
    wait_for(e, log, 1);
    EXPECT_TRUE(log.empty());
    e.set();
    EXPECT_EQ(log.size(), 1U);
}

TEST(auto_reset_event, SYNC_82_signal_of_a_waiter_that_never_ran_is_passed_on) {
    auto_reset_event e;
    hand_executor executor;
    std::vector<int> log;
    hosted first = [](hand_executor&, auto_reset_event& ev) -> hosted { co_await ev.wait(); }(executor, e);
    wait_for(e, log, 2);
    e.set();
    executor.forget();
    first.destroy();
    EXPECT_EQ(log, (std::vector<int>{2}));
    hosted third = [](hand_executor&, auto_reset_event& ev) -> hosted { co_await ev.wait(); }(executor, e);
    e.set();
    executor.forget();
    third.destroy();
    EXPECT_TRUE(e.try_wait()) << "with nobody waiting it is kept";
}

TEST(auto_reset_event, SYNC_82_who_still_waits_behind_a_cancelled_one_is_woken) {
    auto_reset_event e("e");
    roost::seam::plain<int> first_resumed{0};
    roost::seam::plain<int> second_resumed{0};
    sync_testing::held_operation<auto_reset_event::operation> first(e.wait(), first_resumed);
    sync_testing::held_operation<auto_reset_event::operation> second(e.wait(), second_resumed);
    EXPECT_TRUE(first.operation().try_cancel());
    e.set();
    EXPECT_EQ(first_resumed.get(), 0);
    EXPECT_EQ(second_resumed.get(), 1);
    EXPECT_FALSE(e.try_wait()) << "the signal went to the one who waited";
}

TEST(auto_reset_event, SYNC_82_cancelled_waiter_takes_no_signal) {
    auto_reset_event e;
    owned first = [](auto_reset_event& ev) -> owned { co_await ev.wait(); }(e);
    first.destroy();
    EXPECT_EQ(e.waiters_now(), 0U);
    e.set();
    EXPECT_TRUE(e.try_wait());
}

TEST(auto_reset_event, SYNC_83_blocking_forms) {
    auto_reset_event e;
    EXPECT_FALSE(e.wait_blocking(roost::now() + std::chrono::milliseconds(2)));
    auto_reset_event back;
    int passed = 0;
    std::thread waiting([&] {
        for (int i = 0; i < 2000; ++i) {
            e.wait_blocking();
            ++passed;
            back.set();
        }
    });
    for (int i = 0; i < 2000; ++i) {
        e.set();
        EXPECT_TRUE(back.wait_blocking(roost::no_deadline));
    }
    waiting.join();
    EXPECT_EQ(passed, 2000);
}

TEST(auto_reset_event_death, SYNC_84_destroyed_with_waiters) {
    EXPECT_DEATH(
        {
            std::vector<int> log;
            auto_reset_event e("tick");
            wait_for(e, log, 1);
        },
        "auto_reset_event 'tick'.*destroyed while 1 waiter was still queued");
}

}  // namespace
