// Options that are wrong, or that the pool adjusts.

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace pool_testing;
using roost::pool_options;

TEST(pool_options, POOL_1_capacity_zero_and_timers_without_executor_end_with_a_sentence) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    ledger l;
    EXPECT_DEATH(make_pool(l, pool_options(0, "none")), "capacity is 0");
    sync_testing::hand_timers timers;
    pool_options o(1, "timed");
    o.timers = &timers;
    EXPECT_DEATH(make_pool(l, o), "timers needs an executor");
}

TEST(pool_options, POOL_83_a_limit_without_timers_ends_with_a_sentence) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    ledger l;
    const auto limit = [](roost::duration pool_options::* which) {
        pool_options o(1, "limited");
        o.*which = std::chrono::seconds(1);
        return o;
    };
    EXPECT_DEATH(make_pool(l, limit(&pool_options::create_timeout)),
                 "pool 'limited'.*support.hpp.*create_timeout needs options.where and options.timers");
    EXPECT_DEATH(make_pool(l, limit(&pool_options::check_timeout)), "check_timeout needs");
    EXPECT_DEATH(make_pool(l, limit(&pool_options::destroy_timeout)), "destroy_timeout needs");
    EXPECT_DEATH(make_pool(l, limit(&pool_options::leak_after)), "leak_after needs");
    const auto works_without = make_pool(l, limit(&pool_options::idle_ttl));  // upkeep on return, and before it is given out
}

TEST(pool_options, POOL_1_stripes_and_warmth_are_kept_within_the_capacity) {
    ledger l;
    pool_options o(3, "small");
    o.stripes = 8;
    o.warm = 9;
    auto p = make_pool(l, o);
    EXPECT_EQ(p.stripes(), 3U);
    EXPECT_EQ(l.made, 3);
    EXPECT_EQ(p.stats().idle, 3U);
}

TEST(pool_options, POOL_29_a_holder_as_text) {
    const roost::observe::pool_holder h("checkout", roost::site::here(), 1, std::chrono::milliseconds(1200));
    EXPECT_NE(h.to_string().find("checkout ("), std::string::npos);
    EXPECT_NE(h.to_string().find("options_test.cpp:"), std::string::npos);
    EXPECT_NE(h.to_string().find(", 1.2 s)"), std::string::npos);
    EXPECT_EQ(h.stripe(), 1);
}

}  // namespace
