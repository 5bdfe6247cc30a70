#include <roost/sync/barrier.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace {

using roost::barrier;
using sync_testing::fire;
using sync_testing::owned;

fire meet(barrier& b, int rounds, int& passed) {
    for (int i = 0; i < rounds; ++i) {
        co_await b.arrive_and_wait();
        ++passed;
    }
}

TEST(barrier, SYNC_101_no_participant_passes_before_all_have_arrived) {
    barrier b(3, "step");
    int passed = 0;
    meet(b, 2, passed);
    meet(b, 2, passed);
    EXPECT_EQ(passed, 0);
    EXPECT_EQ(b.waiters_now(), 2U);
    meet(b, 2, passed);
    EXPECT_EQ(passed, 6) << "two phases";
}

TEST(barrier, SYNC_102_arrive_then_wait) {
    barrier b(2);
    const barrier::phase mine = b.arrive();
    EXPECT_FALSE(b.try_wait(mine));
    int passed = 0;
    [](barrier& bb, barrier::phase p, int& n) -> fire {
        co_await bb.wait(p);
        ++n;
    }(b, mine, passed);
    EXPECT_EQ(passed, 0);
    static_cast<void>(b.arrive());
    EXPECT_EQ(passed, 1);
    EXPECT_TRUE(b.try_wait(mine));
    [](barrier& bb, barrier::phase p, int& n) -> fire {
        co_await bb.wait(p);
        ++n;
    }(b, mine, passed);
    EXPECT_EQ(passed, 2) << "a phase that is over is not waited for";
}

TEST(barrier, SYNC_103_drop_makes_later_phases_smaller) {
    barrier b(2);
    int passed = 0;
    meet(b, 3, passed);
    b.arrive_and_drop();
    EXPECT_EQ(passed, 3) << "the other one meets only itself from then on";
}

TEST(barrier, SYNC_104_cancelled_wait_leaves_the_arrival) {
    barrier b(2);
    owned w = [](barrier& bb) -> owned { co_await bb.arrive_and_wait(); }(b);
    w.destroy();
    EXPECT_EQ(b.waiters_now(), 0U);
    int passed = 0;
    meet(b, 1, passed);
    EXPECT_EQ(passed, 1);
}

TEST(barrier, SYNC_105_blocking_forms) {
    barrier b(2);
    EXPECT_FALSE(b.arrive_and_wait_blocking(roost::now() + std::chrono::milliseconds(2)));
    static_cast<void>(b.arrive());
    int shared[2] = {0, 0};
    std::thread other([&] {
        for (int i = 1; i <= 500; ++i) {
            shared[0] = i;
            b.arrive_and_wait_blocking();
            EXPECT_EQ(shared[1], i);
            b.arrive_and_wait_blocking();
        }
    });
    for (int i = 1; i <= 500; ++i) {
        shared[1] = i;
        b.arrive_and_wait_blocking();
        EXPECT_EQ(shared[0], i);
        b.arrive_and_wait_blocking();
    }
    other.join();
}

TEST(barrier, SYNC_105_blocking_wait_for_a_phase) {
    barrier b(2);
    const barrier::phase first = b.arrive();
    EXPECT_FALSE(b.wait_blocking(first, roost::now() + std::chrono::milliseconds(2)));
    EXPECT_EQ(b.waiters_now(), 0U);
    EXPECT_FALSE(b.try_wait(first)) << "the deadline ended the wait, not the phase";
    int before = 0;
    std::thread other([&] {
        before = 1;
        static_cast<void>(b.arrive());
    });
    b.wait_blocking(first);
    EXPECT_EQ(before, 1) << "whoever passes sees what was written before the arrivals";
    other.join();
    EXPECT_TRUE(b.wait_blocking(first, roost::time_point::min())) << "a phase that is over is not waited for";
    b.wait_blocking(first);
}

TEST(barrier_death, SYNC_106_misuse_is_named) {
    EXPECT_DEATH(barrier(0, "step"), "barrier 'step'.*needs at least one participant");
    EXPECT_DEATH(
        {
            barrier b(1, "step");
            b.arrive_and_drop();
            static_cast<void>(b.arrive());
        },
        "barrier 'step'.*arrived after every participant had dropped out");
    EXPECT_DEATH(
        {
            barrier b(2, "step");
            [](barrier& bb) -> sync_testing::fire { co_await bb.arrive_and_wait(); }(b);
        },
        "barrier 'step'.*destroyed while 1 waiter was still queued");
}

}  // namespace
