#include <roost/sync/latch.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace {

using roost::latch;
using sync_testing::fire;
using sync_testing::owned;

static_assert(sizeof(latch) <= 40);

fire wait_for(latch& l, int& count) {
    co_await l.wait();
    ++count;
}

TEST(latch, SYNC_90_opens_at_zero) {
    latch l(3, "started");
    int count = 0;
    wait_for(l, count);
    wait_for(l, count);
    EXPECT_EQ(l.waiters_now(), 2U);
    l.count_down();
    EXPECT_FALSE(l.try_wait());
    EXPECT_EQ(l.count(), 2U);
    l.count_down(2);
    EXPECT_EQ(count, 2);
    EXPECT_TRUE(l.is_open());
    wait_for(l, count);
    EXPECT_EQ(count, 3);
}

TEST(latch, SYNC_90_latch_of_zero_is_open) {
    latch l(0);
    EXPECT_TRUE(l.try_wait());
    l.wait_blocking();
}

TEST(latch, SYNC_91_arrive_and_wait) {
    latch l(2);
    int passed = 0;
    const auto arrive = [](latch& ll, int& n) -> fire {
        co_await ll.arrive_and_wait();
        ++n;
    };
    arrive(l, passed);
    EXPECT_EQ(passed, 0);
    arrive(l, passed);
    EXPECT_EQ(passed, 2);
}

TEST(latch, SYNC_91_the_first_to_pass_destroys_it) {
    auto l = std::make_unique<latch>(2U);
    int passed = 0;
    const auto arrive = [](std::unique_ptr<latch>& ll, int& n) -> fire {
        co_await ll->arrive_and_wait();
        ++n;
        ll.reset();
    };
    arrive(l, passed);
    arrive(l, passed);
    EXPECT_EQ(passed, 2);
}

TEST(latch, SYNC_91_counts_when_it_is_awaited_and_a_cancel_leaves_that) {
    latch l(3);
    {
        [[maybe_unused]] const auto never_awaited = l.arrive_and_wait();
        EXPECT_EQ(l.count(), 3U);
    }
    roost::seam::plain<int> resumed{0};
    {
        sync_testing::held_operation<latch::arrival> first(l.arrive_and_wait(2), resumed);
        EXPECT_EQ(l.count(), 1U);
        EXPECT_TRUE(first.operation().try_cancel());
        EXPECT_EQ(first.operation().waits_on().kind(), "latch");
    }
    EXPECT_EQ(l.count(), 1U);
    EXPECT_EQ(l.waiters_now(), 0U);
    l.arrive_and_wait_blocking();
    EXPECT_TRUE(l.is_open());
    EXPECT_EQ(resumed.get(), 0);
}

TEST(latch, SYNC_91_blocking_forms) {
    latch late(2);
    EXPECT_FALSE(late.arrive_and_wait_blocking(roost::now() + std::chrono::milliseconds(2)));
    EXPECT_EQ(late.count(), 1U);
    EXPECT_EQ(late.waiters_now(), 0U);
    for (int i = 0; i < 1000; ++i) {
        auto l = std::make_unique<latch>(2U);
        int data[2] = {0, 0};
        std::thread other([raw = l.get(), &data] {
            data[0] = 1;
            raw->arrive_and_wait_blocking();
            EXPECT_EQ(data[1], 1);
        });
        data[1] = 1;
        EXPECT_TRUE(l->arrive_and_wait_blocking(roost::no_deadline));
        EXPECT_EQ(data[0], 1);
        l.reset();
        other.join();
    }
}

TEST(latch, SYNC_92_cancelled_waiter_is_unlinked) {
    latch l(1);
    owned w = [](latch& ll) -> owned { co_await ll.wait(); }(l);
    EXPECT_EQ(l.waiters_now(), 1U);
    w.destroy();
    EXPECT_EQ(l.waiters_now(), 0U);
    l.count_down();
    EXPECT_TRUE(l.is_open());
}

TEST(latch, SYNC_92_who_still_waits_behind_a_cancelled_one_is_woken) {
    latch l(1, "started");
    roost::seam::plain<int> resumed{0};
    int count = 0;
    sync_testing::held_operation<latch::operation> first(l.wait(), resumed);
    wait_for(l, count);
    EXPECT_TRUE(first.operation().try_cancel());
    EXPECT_FALSE(first.operation().try_cancel()) << "once";
    EXPECT_EQ(l.waiters_now(), 1U);
    l.count_down();
    EXPECT_EQ(count, 1);
    EXPECT_EQ(resumed.get(), 0);
}

TEST(latch, SYNC_93_blocking_forms_and_destruction_by_one_that_passed) {
    latch late(1);
    EXPECT_FALSE(late.wait_blocking(roost::now() + std::chrono::milliseconds(2)));
    for (int i = 0; i < 1000; ++i) {
        auto l = std::make_unique<latch>(2U);
        int data[2] = {0, 0};
        std::thread a([raw = l.get(), &data] {
            data[0] = 1;
            raw->count_down();
        });
        data[1] = 1;
        l->count_down();
        l->wait_blocking();
        l.reset();
        EXPECT_EQ(data[0] + data[1], 2);
        a.join();
    }
}

TEST(latch_death, SYNC_94_misuse_is_named) {
    EXPECT_DEATH(
        {
            latch l(1, "started");
            l.count_down(2);
        },
        "latch 'started'.*counted down more often than its count");
    EXPECT_DEATH(
        {
            latch l(1, "started");
            l.arrive_and_wait_blocking(2);
        },
        "latch 'started'.*counted down more often than its count");
    EXPECT_DEATH({ const latch l(latch::max_count + 1, "started"); }, "latch 'started'.*its count is larger than max_count");
    EXPECT_DEATH(
        {
            int count = 0;
            latch l(1, "started");
            wait_for(l, count);
        },
        "latch 'started'.*destroyed while 1 waiter was still queued");
}

}  // namespace
