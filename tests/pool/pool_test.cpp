// Acquiring, returning, waiting: one thread, synchronous create.

#include <gtest/gtest.h>

#include "support.hpp"

#include <vector>

namespace {

using namespace pool_testing;
using roost::acquired;
using roost::pool;
using roost::pool_options;
using roost::pooled;
using roost::wait_status;

TEST(pool, POOL_2_a_new_pool_has_made_nothing) {
    ledger l;
    auto p = make_pool(l, pool_options(7));
    EXPECT_EQ(l.made, 0);
    EXPECT_EQ(p.stats().capacity, 7U);
    EXPECT_EQ(p.stats().free, 7U);
}

TEST(pool, POOL_2_capacity_is_spread_evenly_over_the_stripes) {
    ledger l;
    pool_options o(7);
    o.stripes = 3;
    auto p = make_pool(l, o);
    EXPECT_EQ(p.stripes(), 3U);
    unsigned least = 99;
    unsigned most = 0;
    for (unsigned i = 0; i < 3; ++i) {
        const roost::detail::stripe_state s(core_of(p).stripes().at(i).word.load(roost::seam::mo::relaxed));
        least = std::min(least, s.capacity());
        most = std::max(most, s.capacity());
    }
    EXPECT_EQ(most - least, 1U);
}

TEST(pool, POOL_3_idle_first_then_create_then_wait) {
    ledger l;
    auto p = make_pool(l, one_stripe(2));
    client a(p);
    ASSERT_TRUE(a.done() && a.got());
    EXPECT_EQ(a.got()->id, 1);
    a.let_go();
    client b(p);
    EXPECT_EQ(b.got()->id, 1) << "the idle one";
    client c(p);
    EXPECT_EQ(c.got()->id, 2) << "a new one";
    client d(p);
    EXPECT_FALSE(d.done());
    b.let_go();
    ASSERT_TRUE(d.done());
    EXPECT_EQ(d.got()->id, 1);
    expect_conserved(p, l);
}

TEST(pool, POOL_4_try_acquire_never_waits_and_never_creates) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    EXPECT_EQ(p.try_acquire().status(), wait_status::empty);
    EXPECT_EQ(l.made, 0);
    {
        auto made = p.try_acquire_or_create();
        ASSERT_TRUE(made);
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::empty);
    }
    auto idle = p.try_acquire();
    EXPECT_TRUE(idle) << "an idle resource is given out although nothing is free";
    EXPECT_EQ(l.made, 1);
}

TEST(pool, POOL_17_waiters_are_served_in_order_and_not_overtaken) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    client first(p);
    client second(p);
    EXPECT_EQ(p.try_acquire().status(), wait_status::empty);
    holder.let_go();
    EXPECT_TRUE(first.done());
    EXPECT_FALSE(second.done());
    EXPECT_EQ(p.try_acquire().status(), wait_status::empty);
    first.let_go();
    EXPECT_TRUE(second.done());
    second.let_go();
    EXPECT_EQ(l.made, 1);
    EXPECT_EQ(p.stats().idle, 1U);
    EXPECT_TRUE(p.try_acquire()) << "nobody waits any more";
}

TEST(pool, POOL_21_a_failed_creation_is_reported_with_pool_stripe_operation_and_cause) {
    ledger l;
    l.fail_next = 1;
    auto p = make_pool(l, one_stripe(1));
    client a(p);
    ASSERT_TRUE(a.done());
    EXPECT_EQ(a.got().status(), wait_status::failed);
    try {
        static_cast<void>(std::move(a.got()).value());
        FAIL();
    } catch (const roost::pool_error& e) {
        EXPECT_EQ(e.pool(), "test pool");
        EXPECT_EQ(e.stripe(), 0);
        EXPECT_EQ(e.operation(), roost::pool_error::step::create);
        EXPECT_NE(std::string(e.what()).find("pool 'test pool', stripe 0: create: connection refused"), std::string::npos)
            << e.what();
        EXPECT_TRUE(e.cause());
        EXPECT_EQ(e.kind(), roost::errc::broken);
    }
    client b(p);
    EXPECT_TRUE(b.got()) << "the right to create was given back";
    expect_conserved(p, l);
}

TEST(pool, POOL_25_the_resource_returned_last_is_given_out_first) {
    ledger l;
    auto p = make_pool(l, one_stripe(3));
    client a(p);
    client b(p);
    client c(p);
    a.let_go();
    c.let_go();
    b.let_go();
    EXPECT_EQ(p.try_acquire()->id, 2);
}

TEST(pool, POOL_7_clear_idle_destroys_what_is_idle_and_nothing_else) {
    ledger l;
    auto p = make_pool(l, one_stripe(3));
    client out(p);
    {
        client b(p);
        client c(p);
    }
    EXPECT_EQ(p.clear_idle(), 2U);
    EXPECT_EQ(l.destroyed, 2);
    EXPECT_EQ(p.stats().free, 2U);
    EXPECT_EQ(p.clear_idle(), 0U);
    client again(p);
    EXPECT_TRUE(again.got());
    expect_conserved(p, l);
}

TEST(pool, POOL_28_resize_up_serves_waiters_and_down_lets_the_surplus_go) {
    ledger l;
    pool_options o = one_stripe(1);
    o.room = 4;
    auto p = make_pool(l, o);
    client a(p);
    client b(p);
    client c(p);
    EXPECT_FALSE(b.done());
    EXPECT_EQ(p.resize(3), 3U);
    EXPECT_TRUE(b.done() && c.done());
    EXPECT_EQ(p.resize(99), 4U);
    EXPECT_EQ(p.resize(1), 1U);
    EXPECT_EQ(p.stats().over, 2U);
    client d(p);
    a.let_go();
    b.let_go();
    EXPECT_EQ(l.destroyed, 2) << "they were too many";
    EXPECT_FALSE(d.done());
    c.let_go();
    EXPECT_TRUE(d.done());
    d.let_go();
    EXPECT_EQ(p.stats().idle, 1U);
    EXPECT_EQ(p.stats().over, 0U);
    expect_conserved(p, l);
}

TEST(pool, POOL_28_resize_down_lets_only_the_surplus_of_idle_ones_go) {
    ledger l;
    auto p = make_pool(l, one_stripe(6));
    {
        std::vector<roost::acquired<thing>> all;
        for (int i = 0; i < 6; ++i) {
            all.push_back(p.try_acquire_or_create());
        }
    }
    EXPECT_EQ(p.stats().idle, 6U);
    EXPECT_EQ(p.resize(3), 3U);
    EXPECT_EQ(l.destroyed, 3);
    EXPECT_EQ(p.stats().idle, 3U);
    expect_conserved(p, l);
}

TEST(pool, POOL_30_health_check_replaces_a_broken_resource) {
    ledger l;
    pool<thing> p(one_stripe(2), factory(l), undertaker(l), [](thing& t) { return t.healthy; });
    {
        client a(p);
        a.got()->healthy = false;
    }
    client b(p);
    EXPECT_EQ(b.got()->id, 2);
    EXPECT_EQ(l.destroyed, 1);
    EXPECT_EQ(p.stats().checks_failed, 1U);
    b.let_go();
    expect_conserved(p, l);
}

TEST(pool, POOL_30_a_throwing_check_counts_as_broken_and_a_throwing_destroy_frees_the_place) {
    int errors = 0;
    pool_options o = one_stripe(1);
    o.on_error = [&](const roost::pool_error&) { ++errors; };
    int made = 0;
    pool<thing> p(o, [&] { return thing(++made); }, [](thing&) { throw 1; }, [](thing&) -> bool { throw 2; });
    { client a(p); }
    client b(p);
    EXPECT_EQ(b.got()->id, 2);
    EXPECT_EQ(errors, 2);
    EXPECT_EQ(p.stats().out, 1U);
}

TEST(pool, POOL_26_resources_need_not_be_movable) {
    struct fixed {
        fixed() = default;
        fixed(const fixed&) = delete;
        int value = 3;
    };
    pool<fixed> p(pool_options(2), [] { return fixed(); });
    auto got = p.try_acquire_or_create();
    EXPECT_EQ(got->value, 3);
}

}  // namespace
