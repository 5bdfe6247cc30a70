// Handles: back, broken, or cut short.

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace pool_testing;
using roost::pool;
using roost::pooled;

TEST(pooled, POOL_20_discard_hands_the_right_to_create_to_the_first_waiter) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    client first(p);
    client second(p);
    holder.discard();
    EXPECT_EQ(l.destroyed, 1);
    ASSERT_TRUE(first.done());
    EXPECT_EQ(first.got()->id, 2);
    EXPECT_FALSE(second.done());
    expect_conserved(p, l);
}

TEST(pooled, POOL_8_with_puts_back_on_success_and_destroys_on_failure) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    int seen = 0;
    bool threw = false;
    [](pool<thing>& from, int& id, bool& failed) -> fire {
        const auto read = [](thing& t) { return t.id; };
        id = co_await from.with(read);
        const auto fail = [](thing&) { throw std::runtime_error("broken pipe"); };
        try {
            co_await from.with(fail);
        } catch (const std::runtime_error&) {
            failed = true;
        }
    }(p, seen, threw);
    EXPECT_EQ(seen, 1);
    EXPECT_TRUE(threw);
    EXPECT_EQ(l.destroyed, 1) << "the failure destroys it";
    expect_conserved(p, l);
}

TEST(pooled, POOL_8_try_with_runs_only_with_something_idle) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    const auto read = [](thing& t) { return t.id; };
    EXPECT_FALSE(p.try_with(read).has_value());
    EXPECT_TRUE(p.try_acquire_or_create());
    EXPECT_EQ(p.try_with(read), 1);
    EXPECT_TRUE(p.try_with([](thing&) {}));
    EXPECT_THROW(static_cast<void>(p.try_with([](thing&) -> int { throw 1; })), int);
    EXPECT_EQ(l.destroyed, 1);
}

TEST(pooled, POOL_29_names_and_sites_of_holders) {
    ledger l;
    auto p = make_pool(l, one_stripe(2));
    client named(p);
    auto held = p.try_acquire_or_create();
    const auto all = p.holders();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name(), "client");
    EXPECT_NE(all[1].to_string().find("pooled_test.cpp:"), std::string::npos) << all[1].to_string();
    named.let_go();
    EXPECT_EQ(p.holders().size(), 1U);
}

TEST(pooled, POOL_6_discard_calls_the_destroy_function_and_a_moved_handle_is_empty) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    pooled<thing> a = p.try_acquire_or_create().value();
    pooled<thing> b = std::move(a);
    EXPECT_FALSE(a);
    ASSERT_TRUE(b);
    b.discard();
    EXPECT_FALSE(b);
    EXPECT_EQ(l.destroyed, 1);
    b.discard();
    b.give_back();
    EXPECT_EQ(p.stats().free, 1U);
}

TEST(pooled, POOL_8_distrust_turns_an_early_end_into_a_discard) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    {
        pooled<thing> h = p.try_acquire_or_create().value();
        h.distrust();
    }
    EXPECT_EQ(l.destroyed, 1);
    {
        pooled<thing> h = p.try_acquire_or_create().value();
        h.distrust();
        h.trust();
    }
    EXPECT_EQ(l.destroyed, 1);
}

TEST(pooled, POOL_10_value_throws_what_the_status_says) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    EXPECT_THROW(static_cast<void>(p.try_acquire().value()), roost::error);
    EXPECT_TRUE(p.close_blocking());
    auto refused = p.try_acquire();
    EXPECT_EQ(refused.status(), roost::wait_status::closed);
    EXPECT_THROW(static_cast<void>(std::move(refused).value()), roost::pool_error);
}

}  // namespace
