// The suspension of creating, and rights to create, asked of the part itself. Whole pools: pool_core_of_test.cpp.

#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <exception>

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::pool_options;
using roost::testing::virtual_time;

bool may_create(roost::detail::pool_core& core) {
    core.queue().lock();
    const bool may = core.creation().may_create();
    core.queue().unlock();
    return may;
}

TEST(pool_creation, POOL_35_failures_in_a_row_suspend_creating_and_a_success_ends_the_row) {
    virtual_time time;
    ledger l;
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.backoff = roost::pool_options::create_backoff(2, 10ms, 40ms);
    o.on_error = [](const roost::pool_error&) {};
    auto p = make_pool(l, o);
    auto& creation = core_of(p).creation();
    l.fail_next = 2;
    EXPECT_FALSE(creation.create_one());
    EXPECT_TRUE(may_create(core_of(p))) << "one failure";
    EXPECT_FALSE(creation.create_one());
    EXPECT_FALSE(may_create(core_of(p)));
    std::exception_ptr why;
    EXPECT_TRUE(creation.is_suspended(why));
    EXPECT_NE(why, nullptr);
    EXPECT_EQ(creation.try_reserve(), nullptr);
    time.advance(10ms);
    EXPECT_TRUE(may_create(core_of(p)));
    EXPECT_TRUE(creation.create_one());
    EXPECT_FALSE(creation.is_suspended(why));
    EXPECT_EQ(p.stats().create_failures, 2U);
    EXPECT_EQ(p.stats().idle, 1U);
    EXPECT_EQ(p.clear_idle(), 1U);
    time.run_ready();
}

TEST(pool_creation, POOL_9_a_right_that_is_not_used_frees_its_slot) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    roost::detail::slot_base* s = core_of(p).creation().try_reserve();
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(p.stats().busy, 1U);
    EXPECT_EQ(core_of(p).creation().try_reserve(), nullptr) << "there is no room";
    EXPECT_FALSE(core_of(p).creation().create_one());
    core_of(p).queue().emptied(*s);
    EXPECT_EQ(p.stats().free, 1U);
    expect_conserved(p, l);
}

TEST(pool_creation, POOL_6_a_discarded_resource_is_destroyed_and_its_slot_is_free) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    ASSERT_TRUE(core_of(p).creation().create_one());
    roost::detail::slot_base* s = core_of(p).try_take();
    ASSERT_NE(s, nullptr);
    core_of(p).creation().discard(*s);
    EXPECT_EQ(l.destroyed, 1);
    EXPECT_EQ(p.stats().free, 1U);
}

}  // namespace
