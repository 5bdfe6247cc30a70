#include <roost/pool/detail/pool_waiter.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using roost::detail::gift;
using roost::detail::pool_effects;
using roost::detail::pool_waiter;

static_assert(std::is_nothrow_move_constructible_v<pool_waiter>);

TEST(pool_waiter, POOL_14_a_new_waiter_has_been_given_nothing) {
    pool_waiter w;
    EXPECT_EQ(w.given, gift::nothing);
    EXPECT_EQ(w.slot, nullptr);
    EXPECT_EQ(w.making, nullptr);
    EXPECT_FALSE(w.is_started());
    const pool_effects none;
    EXPECT_TRUE(none.handed.is_empty() && none.only_gifts);
}

TEST(pool_waiter, POOL_26_an_acquire_that_finds_something_idle_needs_no_waiter) {
    pool_testing::ledger l;
    auto p = pool_testing::make_pool(l, pool_testing::one_stripe(1));
    static_cast<void>(p.acquire_blocking());
    auto op = p.acquire();
    ASSERT_TRUE(op.await_ready());
    EXPECT_FALSE(op.node().is_started());
    const auto got = op.await_resume();
    EXPECT_TRUE(got);
    EXPECT_EQ(p.stats().handed_over, 0U);
}

}  // namespace
