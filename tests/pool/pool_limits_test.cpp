// Attempts and their limits, asked of the part itself. Whole pools: pool_late_test.cpp.

#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::pool_options;
using roost::testing::virtual_time;

pool_options timed(virtual_time& time) {
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.on_error = [](const roost::pool_error&) {};
    return o;
}

TEST(pool_limits, POOL_33_an_attempt_is_claimed_once) {
    virtual_time time;
    ledger l;
    auto p = make_pool(l, timed(time));
    auto& limits = core_of(p).limits();
    roost::detail::slot_base* s = core_of(p).creation().try_reserve();
    ASSERT_NE(s, nullptr);
    const std::uint32_t attempt = s->attempt;
    limits.arm(*s, 5ms);
    EXPECT_TRUE(limits.claim_attempt(*s, attempt));
    EXPECT_FALSE(limits.claim_attempt(*s, attempt));
    time.advance(10ms);
    EXPECT_EQ(p.stats().abandoned, 0U) << "a limit ends with its attempt";
    core_of(p).queue().emptied(*s);
    EXPECT_EQ(p.stats().free, 1U);
}

TEST(pool_limits, POOL_33_at_the_limit_the_slot_is_free_and_the_attempt_is_late) {
    virtual_time time;
    ledger l;
    auto p = make_pool(l, timed(time));
    auto& limits = core_of(p).limits();
    roost::detail::slot_base* s = core_of(p).creation().try_reserve();
    ASSERT_NE(s, nullptr);
    const std::uint32_t attempt = s->attempt;
    s->is_creating = true;
    limits.arm(*s, 5ms);
    time.advance(5ms);
    EXPECT_EQ(p.stats().free, 1U);
    EXPECT_EQ(p.stats().late, 1U);
    EXPECT_EQ(p.stats().create_failures, 1U);
    EXPECT_FALSE(limits.claim_attempt(*s, attempt));
    limits.end_late();
    EXPECT_EQ(p.stats().late, 0U);
    EXPECT_EQ(p.stats().abandoned, 1U);
}

TEST(pool_limits, POOL_34_a_destruction_has_a_limit_only_if_the_options_set_one) {
    virtual_time time;
    ledger l;
    auto without = make_pool(l, timed(time));
    EXPECT_EQ(core_of(without).limits().make_drop_limit(), nullptr);
    pool_options o = timed(time);
    o.destroy_timeout = 1s;
    auto with = make_pool(l, o);
    auto* limit = core_of(with).limits().make_drop_limit();
    EXPECT_NE(limit, nullptr);
    delete limit;
}

}  // namespace
