// Waiting: in order, cancelled before and after the wake.

#include <gtest/gtest.h>

#include "support.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace pool_testing;
using roost::pool;

TEST(acquire_operation, POOL_18_a_cancelled_waiter_is_skipped_and_consumes_nothing) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    client first(p);
    client second(p);
    EXPECT_TRUE(first.cancel());
    EXPECT_FALSE(first.cancel()) << "only once";
    holder.let_go();
    EXPECT_FALSE(first.done());
    EXPECT_TRUE(second.done());
    EXPECT_FALSE(second.cancel()) << "it has been served";
    EXPECT_EQ(p.stats().withdrawn, 1U);
}

TEST(acquire_operation, POOL_18_cancelling_every_waiter_leaves_a_usable_pool) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    client holder(p);
    {
        client first(p);
        client second(p);
        EXPECT_TRUE(second.cancel());
        EXPECT_TRUE(first.cancel());
    }
    holder.let_go();
    EXPECT_EQ(p.stats().waiting, 0U);
    EXPECT_TRUE(p.try_acquire());
}

TEST(acquire_operation, POOL_19_what_a_destroyed_waiter_was_given_goes_to_the_next) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    hand_executor where;
    std::optional<client> holder(p);
    bool ran = false;
    auto waits = [](roost::executor&, pool<thing>& from, bool& done) -> hosted {
        auto got = co_await from.acquire();
        done = true;
    };
    hosted woken = waits(where, p, ran);
    client next(p);
    holder->let_go();
    EXPECT_EQ(where.posted(), 1);
    EXPECT_FALSE(next.done());
    where.forget();
    woken.destroy();  // delivered, never resumed
    EXPECT_FALSE(ran);
    EXPECT_TRUE(next.done()) << "the resource is passed on";
    expect_conserved(p, l);
}

TEST(acquire_operation, POOL_20_a_destroyed_waiter_passes_the_right_to_create_on) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    hand_executor where;
    client holder(p);
    auto waits = [](roost::executor&, pool<thing>& from) -> hosted { auto got = co_await from.acquire(); };
    hosted woken = waits(where, p);
    client next(p);
    holder.discard();
    where.forget();
    woken.destroy();
    ASSERT_TRUE(next.done());
    EXPECT_EQ(next.got()->id, 2);
    expect_conserved(p, l);
}

// The pool refuses the waiter, is destroyed, drains, and is gone but for what the waiter keeps of it. Only then it runs.
TEST(acquire_operation, POOL_81_a_waiter_is_refused_although_the_pool_was_drained_before_it_runs) {
    ledger l;
    hand_executor where;
    std::optional<pool<thing>> p(make_pool(l, one_stripe(1)));
    std::optional<client> holder(*p);
    std::optional<roost::wait_status> status;
    std::string why;
    auto waits = [](roost::executor&, pool<thing>& from, std::optional<roost::wait_status>& out,
                    std::string& text) -> hosted {
        auto got = co_await from.acquire();
        out = got.status();
        try {
            static_cast<void>(std::move(got).value());
        } catch (const roost::pool_error& e) {
            text = e.pool();
        }
    };
    hosted told = waits(where, *p, status, why);
    hosted dropped = waits(where, *p, status, why);
    p.reset();
    holder.reset();
    EXPECT_EQ(l.alive(), 0);
    ASSERT_TRUE(where.run_one());
    EXPECT_EQ(status, roost::wait_status::closed);
    EXPECT_EQ(why, "test pool");
    where.forget();
    dropped.destroy();
}

TEST(acquire_operation, POOL_81_a_deadline_that_comes_after_the_pool_is_gone_finds_it) {
    ledger l;
    hand_executor where;
    sync_testing::hand_timers timers;
    where.set_timers(&timers);
    std::optional<pool<thing>> p(make_pool(l, one_stripe(1)));
    std::optional<client> holder(*p);
    std::optional<roost::wait_status> status;
    std::optional<bool> drained;
    auto waits = [](roost::executor&, pool<thing>& from, roost::time_point until,
                    std::optional<roost::wait_status>& out) -> hosted {
        auto got = co_await roost::with_deadline(from.acquire(), until);
        out = got.status();
    };
    auto closes = [](roost::executor&, pool<thing>& what, roost::time_point until, std::optional<bool>& out) -> hosted {
        auto ended = co_await roost::with_deadline(what.close(), until);
        out = ended.has_value();
    };
    const roost::time_point soon = timers.now() + roost::duration(10);
    hosted acquire = waits(where, *p, soon, status);
    hosted close = closes(where, *p, soon, drained);
    p.reset();
    holder.reset();
    timers.advance(roost::duration(10));  // too late: the pool had told both
    where.run();
    EXPECT_EQ(status, roost::wait_status::closed);
    EXPECT_EQ(drained, true);
}

// POOL-13, POOL-14: effects run outside every lock, and each waiter is told once: the woken one uses the pool at once.
TEST(acquire_operation, POOL_13_POOL_14_a_woken_waiter_may_use_the_pool_from_inside_the_wake) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    int turns = 0;
    auto greedy = [](pool<thing>& from, int& n) -> fire {
        for (int i = 0; i < 3; ++i) {
            auto got = co_await from.acquire();
            ++n;
        }
    };
    {
        client holder(p);
        greedy(p, turns);
        greedy(p, turns);
        EXPECT_EQ(turns, 0);
    }
    EXPECT_EQ(turns, 6);
    expect_conserved(p, l);
}

TEST(acquire_operation, POOL_16_POOL_27_ten_thousand_waiters_take_turns_and_leave_from_the_middle) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    std::vector<std::unique_ptr<client>> all;
    for (int i = 0; i < 10'000; ++i) {
        all.push_back(std::make_unique<client>(p));
    }
    for (std::size_t i = 1; i < all.size(); i += 2) {
        ASSERT_TRUE(all[i]->cancel());
    }
    for (std::size_t i = 0; i < all.size(); i += 2) {
        ASSERT_TRUE(all[i]->done());
        ASSERT_EQ(p.stats().out, 1U) << "one at a time";
        all[i]->let_go();
    }
    EXPECT_EQ(l.made, 1);
}

}  // namespace
