// What the pool that inspired this one got wrong: the regressions that no other file has.

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace pool_testing;
using roost::acquired;
using roost::pool;
using roost::wait_status;

TEST(pool_regression, RPB_3_a_return_is_one_step_so_a_taker_sees_the_resource_or_its_holder) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    for (int i = 0; i < 1000; ++i) {
        client a(p);
        client b(p);
        EXPECT_FALSE(b.done());
        a.let_go();
        EXPECT_TRUE(b.done() && b.got());
        EXPECT_EQ(p.stats().idle, 0U) << "it went from hand to hand";
    }
    EXPECT_EQ(l.most_alive, 1);
    EXPECT_EQ(l.made, 1);
}

TEST(pool_regression, RPB_4_a_failing_user_function_ends_in_the_destroy_function) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    for (int i = 1; i <= 3; ++i) {
        auto op = p.with([](thing&) -> int { throw std::runtime_error("abort"); });
        ASSERT_TRUE(op.await_ready());
        EXPECT_THROW(op.await_resume(), std::runtime_error);
        EXPECT_EQ(l.destroyed, i);
        EXPECT_EQ(l.alive(), 0);
    }
    EXPECT_EQ(p.stats().free, 1U);
}

TEST(pool_regression, RPB_9_an_idle_resource_is_given_out_when_no_capacity_is_free) {
    ledger l;
    auto p = make_pool(l, one_stripe(2));
    {
        client a(p);
        client b(p);
    }
    ASSERT_EQ(p.stats().free, 0U);
    acquired<thing> first = p.try_acquire();
    acquired<thing> second = p.try_acquire();
    EXPECT_TRUE(first && second);
    EXPECT_EQ(p.try_acquire().status(), wait_status::empty);
}

}  // namespace
