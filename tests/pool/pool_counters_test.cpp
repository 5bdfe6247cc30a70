#include <roost/pool/detail/pool_counters.hpp>

#include <gtest/gtest.h>

namespace {

using roost::detail::pool_counters;

TEST(pool_counters, POOL_29_every_counter_reaches_the_statistics) {
    pool_counters c;
    for (int i = 0; i < 2; ++i) {
        pool_counters::add_one(c.created);
        pool_counters::add_one_locked(c.handed_over);
    }
    pool_counters::add_one(c.destroyed);
    pool_counters::add_one(c.create_failures);
    pool_counters::add_one_locked(c.withdrawn);
    pool_counters::add_one(c.checks_failed);
    pool_counters::add_one(c.expired);
    pool_counters::add_one(c.abandoned);
    pool_counters::add_one(c.leaks);
    roost::pool_stats s;
    c.copy_to(s);
    EXPECT_EQ(s.created, 2U);
    EXPECT_EQ(s.handed_over, 2U);
    EXPECT_EQ(s.destroyed + s.create_failures + s.withdrawn + s.checks_failed + s.expired + s.abandoned + s.leaks, 7U);
}

}  // namespace
