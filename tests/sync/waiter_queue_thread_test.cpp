// Threads and coroutines in one queue, and the registration window.

#include <roost/sync/waiter_queue.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using roost::waiter_queue;
using roost::seam::mo::seq_cst;
using sync_testing::fire;

template <class Parker>
class blocking_wait : public ::testing::Test {};
using parkers = ::testing::Types<roost::detail::futex_parker, roost::detail::portable_parker>;
TYPED_TEST_SUITE(blocking_wait, parkers);

void until_queued(const waiter_queue& queue, std::size_t n) {
    while (queue.size_approx() < n) {
        std::this_thread::yield();
    }
}

TYPED_TEST(blocking_wait, SYNC_14_thread_is_woken) {
    waiter_queue queue;
    std::thread sleeper([&] { EXPECT_TRUE(queue.wait_blocking_with<TypeParam>([] { return false; })); });
    until_queued(queue, 1);
    EXPECT_TRUE(queue.wake_one());
    sleeper.join();
}

TYPED_TEST(blocking_wait, SYNC_15_deadline_claims_the_wait) {
    waiter_queue queue;
    const auto deadline = roost::now() + std::chrono::milliseconds(5);
    EXPECT_FALSE(queue.wait_blocking_with<TypeParam>([] { return false; }, deadline));
    EXPECT_GE(roost::now(), deadline);
    EXPECT_EQ(queue.size_approx(), 0U);
    EXPECT_FALSE(queue.wait_blocking_with<TypeParam>([] { return false; }, roost::time_point::min()));
    EXPECT_TRUE(queue.wait_blocking_with<TypeParam>([] { return true; }, roost::time_point::min()));
}

TYPED_TEST(blocking_wait, SYNC_14_threads_and_coroutines_stand_in_one_line) {
    waiter_queue queue;
    std::atomic<int> order{0};
    int coroutine_place = 0;
    int thread_place = 0;
    std::thread sleeper([&] {
        queue.wait_blocking_with<TypeParam>([] { return false; });
        thread_place = ++order;
    });
    until_queued(queue, 1);
    [](waiter_queue& q, std::atomic<int>& o, int& place) -> fire {
        co_await q.wait_unless([] { return false; });
        place = ++o;
    }(queue, order, coroutine_place);
    EXPECT_TRUE(queue.wake_one());
    sleeper.join();
    EXPECT_EQ(thread_place, 1);
    EXPECT_EQ(coroutine_place, 0);
    EXPECT_TRUE(queue.wake_one());
    EXPECT_EQ(coroutine_place, 2);
}

// The condition is the hook into the registration window. The waker changes the state and wakes while
// the waiter is between its look at the state and its place in the queue.
TEST(waiter_queue, SYNC_16_wake_inside_the_registration_window_is_not_lost) {
    for (int round = 0; round < 50; ++round) {
        waiter_queue queue;
        std::atomic<bool> in_window{false};
        std::atomic<bool> ready{false};
        std::thread waker([&] {
            while (!in_window.load()) {
                std::this_thread::yield();
            }
            ready.store(true, seq_cst);
            queue.wake_one();
        });
        const bool woken = queue.wait_blocking([&] {
            const bool seen = ready.load(seq_cst);
            in_window.store(true);
            while (!ready.load()) {  // the state changes after the look
                std::this_thread::yield();
            }
            return seen;
        });
        EXPECT_TRUE(woken);
        waker.join();
    }
}

// While one waiter is inside its registration, where it will find its condition true, another one
// starts to register on another thread. The first must not hide the second, nor those that were there before.
TEST(waiter_queue, SYNC_16_recheck_that_succeeds_hides_no_waiter) {
    for (int round = 0; round < 50; ++round) {
        waiter_queue queue;
        std::vector<int> log;
        const auto waits = [](waiter_queue& q, std::vector<int>& l, int id) -> fire {
            co_await q.wait_unless([] { return false; });
            l.push_back(id);
        };
        waits(queue, log, 1);
        std::atomic<bool> registering{false};
        std::thread second;
        const auto inside = [&] {
            second = std::thread([&] {
                registering.store(true);
                waits(queue, log, 2);
            });
            while (!registering.load()) {
                std::this_thread::yield();
            }
            for (int i = 0; i < round; ++i) {  // it stands at the queue's door by now, or will soon
                std::this_thread::yield();
            }
            return true;
        };
        EXPECT_TRUE(queue.wait_blocking(inside, roost::time_point::min())) << "the condition held";
        second.join();
        EXPECT_EQ(queue.size_approx(), 2U);
        EXPECT_TRUE(queue.wake_one());
        EXPECT_TRUE(queue.wake_one());
        EXPECT_FALSE(queue.wake_one());
        EXPECT_EQ(log, (std::vector<int>{1, 2}));
    }
}

// One waiter alone, then a second: both are woken, in order, and none is forgotten.
TEST(waiter_queue, SYNC_3_first_of_two_is_not_overtaken) {
    waiter_queue queue;
    std::vector<int> log;
    for (int round = 0; round < 3; ++round) {
        for (int id = 0; id < 2; ++id) {
            [](waiter_queue& q, std::vector<int>& l, int me) -> fire {
                co_await q.wait_unless([] { return false; });
                l.push_back(me);
            }(queue, log, id);
        }
        EXPECT_EQ(queue.wake_n(2), 2U);
    }
    EXPECT_EQ(log, (std::vector<int>{0, 1, 0, 1, 0, 1}));
}

}  // namespace
