#include <roost/sync/detail/permits.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using roost::fairness;
using roost::detail::permit_state;
using roost::detail::permits;
using roost::detail::weighted_waiter;
using roost::ext::claim;

static_assert(sizeof(permits) <= 40);

// The fast paths are written by hand; they must agree with the pure transitions.
TEST(permits, SYNC_30_fast_paths_agree_with_the_pure_transitions) {
    for (std::uint32_t total = 0; total <= 4; ++total) {
        for (std::uint32_t n = 0; n <= 5; ++n) {
            permits p(total, fairness::hand_off, permits::semaphore_kind, "p");
            const permit_state before{total, false, false};
            const auto expected = take(before, n);
            EXPECT_EQ(p.try_take(n), expected.has_value());
            EXPECT_EQ(p.available(), expected ? expected->available : total);
            if (expected) {
                p.give(n);
                EXPECT_EQ(p.available(), give(*expected, n).available);
            }
        }
    }
}

TEST(permits, SYNC_21_enqueued_waiters_are_granted_in_order) {
    permits p(1, fairness::hand_off, permits::mutex_kind, "m");
    ASSERT_TRUE(p.try_take(1));
    int runs = 0;
    const roost::ext::resume_target target(
        &runs, +[](roost::ext::work& w) noexcept { ++*static_cast<int*>(static_cast<roost::ext::waiter&>(w).frame()); }, {});
    weighted_waiter a(1);
    weighted_waiter b(1);
    a.bind(target);
    b.bind(target);
    EXPECT_TRUE(p.enqueue(a));
    EXPECT_FALSE(p.grant_or_enqueue(b, [] {})) << "queued";
    EXPECT_FALSE(p.try_take(1));
    p.give(1);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(a.finish(), claim::delivered);
    EXPECT_TRUE(p.cancel(b, claim::cancelled));
    EXPECT_FALSE(p.cancel(b, claim::cancelled));
    p.give(1);
    EXPECT_EQ(p.available(), 1U);
    EXPECT_EQ(p.describe().kind(), "mutex");
}

TEST(permits, SYNC_36_in_use_is_a_snapshot) {
    permits p(3, fairness::barging, permits::semaphore_kind, "p");
    EXPECT_EQ(p.total(), 3U);
    ASSERT_TRUE(p.try_take(2));
    EXPECT_EQ(p.in_use(), 2U);
    EXPECT_EQ(p.remove(5), 1U);
    EXPECT_EQ(p.in_use(), 2U);
    p.give(2);
    EXPECT_EQ(p.total(), 2U);
    EXPECT_EQ(p.in_use(), 0U);
}

}  // namespace
