#include <roost/sync/waiter_queue.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using roost::waiter_queue;
using roost::ext::claim;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

constexpr auto never = [] { return false; };

fire wait_for(waiter_queue& queue, std::vector<int>& log, int id) {
    co_await queue.wait_unless(never);
    log.push_back(id);
}

TEST(waiter_queue, SYNC_1_condition_that_holds_registers_nothing) {
    waiter_queue queue;
    bool waited = true;
    [](waiter_queue& q, bool& w) -> fire { w = co_await q.wait_unless([] { return true; }); }(queue, waited);
    EXPECT_FALSE(waited);
    EXPECT_EQ(queue.size_approx(), 0U);
    EXPECT_FALSE(queue.wake_one());
}

TEST(waiter_queue, SYNC_1_waits_until_woken) {
    waiter_queue queue("q");
    bool waited = false;
    [](waiter_queue& q, bool& w) -> fire { w = co_await q.wait_unless([] { return false; }); }(queue, waited);
    EXPECT_EQ(queue.size_approx(), 1U);
    EXPECT_FALSE(waited);
    EXPECT_TRUE(queue.wake_one());
    EXPECT_TRUE(waited);
    EXPECT_EQ(queue.size_approx(), 0U);
    EXPECT_STREQ(queue.name(), "q");
}

TEST(waiter_queue, SYNC_2_waking_an_empty_queue_is_a_no_op) {
    waiter_queue queue;
    EXPECT_FALSE(queue.wake_one());
    EXPECT_EQ(queue.wake_n(5), 0U);
    queue.wake_all();
    std::vector<int> log;
    wait_for(queue, log, 1);
    EXPECT_TRUE(log.empty()) << "a wake that found nobody is not remembered";
    queue.wake_one();
}

TEST(waiter_queue, SYNC_3_wake_one_is_first_in_first_out) {
    waiter_queue queue;
    std::vector<int> log;
    for (int i = 0; i < 5; ++i) {
        wait_for(queue, log, i);
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(queue.wake_one());
        EXPECT_EQ(log.size(), static_cast<std::size_t>(i) + 1);
    }
    EXPECT_EQ(log, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_FALSE(queue.wake_one());
}

TEST(waiter_queue, SYNC_4_mixed_wakes_wake_each_waiter_once) {
    waiter_queue queue;
    std::vector<int> log;
    for (int i = 0; i < 6; ++i) {
        wait_for(queue, log, i);
    }
    EXPECT_TRUE(queue.wake_one());
    EXPECT_EQ(queue.wake_n(2), 2U);
    EXPECT_EQ(queue.size_approx(), 3U);
    queue.wake_all();
    EXPECT_EQ(log, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(queue.wake_n(9), 0U);
}

fire wait_twice(waiter_queue& queue, int& first, int& second) {
    co_await queue.wait_unless(never);
    ++first;
    co_await queue.wait_unless(never);
    ++second;
}

TEST(waiter_queue, SYNC_5_wake_all_satisfies_one_wait_only) {
    waiter_queue queue;
    int first = 0;
    int second = 0;
    for (int i = 0; i < 3; ++i) {
        wait_twice(queue, first, second);
    }
    queue.wake_all();
    EXPECT_EQ(first, 3);
    EXPECT_EQ(second, 0) << "those who queued up again inside the call are not woken by it";
    EXPECT_EQ(queue.size_approx(), 3U);
    queue.wake_all();
    EXPECT_EQ(second, 3);
}

TEST(waiter_queue, SYNC_6_waking_calls_out_under_no_lock) {
    waiter_queue queue;
    std::vector<int> log;
    // Woken inside wake_all, it uses the queue in every way: with a lock held this would hang.
    [](waiter_queue& q, std::vector<int>& l) -> fire {
        co_await q.wait_unless([] { return false; });
        wait_for(q, l, 7);
        q.wake_one();
        q.wake_all();
        l.push_back(1);
    }(queue, log);
    queue.wake_all();
    EXPECT_EQ(log, (std::vector<int>{1, 7})) << "a coroutine that is resumed inline does not recurse into those it wakes";
}

TEST(waiter_queue, SYNC_7_woken_on_its_executor) {
    waiter_queue queue;
    hand_executor executor;
    bool ran = false;
    hosted h = [](hand_executor&, waiter_queue& q, bool& r) -> hosted {
        co_await q.wait_unless([] { return false; });
        r = true;
    }(executor, queue, ran);
    queue.wake_one();
    EXPECT_FALSE(ran) << "nothing is resumed inside the wake";
    EXPECT_EQ(executor.run(), 1);
    EXPECT_TRUE(ran);
    EXPECT_TRUE(h.done());
}

// A dropped waiter that stayed in the queue would consume the wake of a live one.
TEST(waiter_queue, SYNC_8_dropped_waiter_swallows_no_wake) {
    waiter_queue queue;
    std::vector<int> log;
    owned dropped = [](waiter_queue& q) -> owned { co_await q.wait_unless([] { return false; }); }(queue);
    wait_for(queue, log, 2);
    dropped.destroy();
    EXPECT_EQ(queue.size_approx(), 1U);
    EXPECT_TRUE(queue.wake_one());
    EXPECT_EQ(log, (std::vector<int>{2}));
}

// Chosen, then dropped before it ran.
TEST(waiter_queue, SYNC_9_waiter_dropped_after_its_wake_passes_it_on) {
    waiter_queue queue;
    hand_executor executor;
    std::vector<int> log;
    hosted first = [](hand_executor&, waiter_queue& q) -> hosted { co_await q.wait_unless([] { return false; }); }(executor,
                                                                                                                   queue);
    wait_for(queue, log, 2);
    EXPECT_TRUE(queue.wake_one());
    EXPECT_TRUE(log.empty());
    EXPECT_EQ(executor.forget(), 1);
    first.destroy();
    EXPECT_EQ(log, (std::vector<int>{2}));
}

TEST(waiter_queue, SYNC_9_waiter_dropped_after_wake_all_passes_nothing_on) {
    waiter_queue queue;
    hand_executor executor;
    std::vector<int> log;
    hosted first = [](hand_executor&, waiter_queue& q) -> hosted { co_await q.wait_unless([] { return false; }); }(executor,
                                                                                                                   queue);
    queue.wake_all();
    wait_for(queue, log, 2);  // came later: wake_all was not for it
    executor.forget();
    first.destroy();
    EXPECT_TRUE(log.empty());
    queue.wake_one();
}

using never_operation = waiter_queue::operation<std::remove_const_t<decltype(never)>>;

// An awaiter that the test can reach while the coroutine is suspended in it.
owned wait_with(never_operation& operation, bool& resumed) {
    struct by_reference {
        explicit by_reference(never_operation& o) noexcept : op(o) {}
        bool await_ready() noexcept { return op.await_ready(); }
        bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return op.await_suspend(h); }
        void await_resume() noexcept { op.await_resume(); }
        never_operation& op;
    };
    co_await by_reference(operation);
    resumed = true;
}

TEST(waiter_queue, SYNC_10_try_cancel_claims_a_queued_waiter) {
    waiter_queue queue;
    auto operation = queue.wait_unless(never);
    bool resumed = false;
    owned coroutine = wait_with(operation, resumed);
    EXPECT_TRUE(operation.try_cancel());
    EXPECT_FALSE(operation.try_cancel()) << "a wait is claimed once";
    EXPECT_FALSE(queue.wake_one());
    EXPECT_FALSE(resumed);
    EXPECT_EQ(operation.node().state(), claim::cancelled);
}

TEST(waiter_queue, SYNC_10_try_cancel_after_a_wake_is_refused) {
    waiter_queue queue;
    auto operation = queue.wait_unless(never);
    bool resumed = false;
    owned coroutine = wait_with(operation, resumed);
    queue.wake_one();
    EXPECT_TRUE(resumed);
    EXPECT_FALSE(operation.try_cancel());
}

TEST(waiter_queue, SYNC_11_cancel_from_the_middle) {
    waiter_queue queue;
    std::vector<int> log;
    wait_for(queue, log, 1);
    auto operation = queue.wait_unless(never);
    bool resumed = false;
    owned coroutine = wait_with(operation, resumed);
    wait_for(queue, log, 3);
    EXPECT_TRUE(operation.try_cancel());
    EXPECT_EQ(queue.size_approx(), 2U);
    queue.wake_n(2);
    EXPECT_EQ(log, (std::vector<int>{1, 3}));
}

TEST(waiter_queue, SYNC_12_constant_stack_for_a_chain_of_wakes) {
    waiter_queue queue;
    int count = 0;
    for (int i = 0; i < 100'000; ++i) {
        [](waiter_queue& q, int& n) -> fire {
            co_await q.wait_unless([] { return false; });
            ++n;
            q.wake_one();
        }(queue, count);
    }
    queue.wake_one();
    EXPECT_EQ(count, 100'000);
}

TEST(waiter_queue_death, SYNC_13_destroyed_with_waiters) {
    EXPECT_DEATH(
        {
            std::vector<int> log;
            waiter_queue queue("inbox");
            wait_for(queue, log, 1);
        },
        "waiter queue 'inbox'.*destroyed while 1 waiter was still queued");
}

}  // namespace
