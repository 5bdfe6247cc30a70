// The stripes alone: without a queue, and with slots that no pool owns.

#include <roost/pool/detail/pool_settings.hpp>
#include <roost/pool/detail/pool_stripes.hpp>

#include <gtest/gtest.h>

#include "../tree/tree_support.hpp"
#include "support.hpp"

#include <array>
#include <type_traits>

namespace {

using namespace pool_testing;
using roost::pool_options;
using roost::detail::pool_settings;
using roost::detail::pool_stripe;
using roost::detail::pool_stripes;
using roost::detail::slot;
using roost::detail::slot_base;
using roost::detail::stripe_state;

static_assert(!std::is_copy_constructible_v<pool_stripes>);

// Stripes of four slots below a root.
class stripes_of_four {
public:
    explicit stripes_of_four(std::uint32_t stripes) : all(*root, true, settings(stripes).options) {
        for (unsigned i = 0; i < slots_.size(); ++i) {
            all.bind(i, slots_[i]);
        }
    }
    // Takes the right to create and uses it.
    slot_base& create() {
        slot_base* s = all.reserve_anywhere(false, nullptr);
        s->home->commit([=](stripe_state x) { return roost::detail::stripe::made(x, s->number); });
        return *s;
    }

    decltype(tree_support::make_root()) root = tree_support::make_root();
    pool_stripes all;

private:
    static pool_settings settings(std::uint32_t stripes) {
        pool_options o(4, "stripes");
        o.stripes = stripes;
        return {o, {}, roost::site::here()};
    }
    std::array<slot<int>, 4> slots_;
};

TEST(pool_stripes, POOL_2_shares_differ_by_one_at_most) {
    const stripes_of_four three(3);
    EXPECT_EQ(three.all.share_of(4, 0), 2U);
    EXPECT_EQ(three.all.share_of(4, 1), 1U);
    EXPECT_EQ(three.all.share_of(4, 2), 1U);
    unsigned slots = 0;
    for (const pool_stripe& s : three.all) {
        EXPECT_EQ(s.look().capacity(), three.all.share_of(4, s.number));
        slots += s.slot_count;
    }
    EXPECT_EQ(slots, three.all.total_slots());
}

TEST(pool_stripes, POOL_25_the_resource_returned_last_is_taken_first) {
    stripes_of_four one(1);
    slot_base& a = one.create();
    slot_base& b = one.create();
    EXPECT_EQ(one.all.try_take(), nullptr) << "nothing is idle";
    EXPECT_TRUE(one.all.try_put(a));
    EXPECT_TRUE(one.all.try_put(b));
    EXPECT_TRUE(one.all.has_idle());
    EXPECT_EQ(one.all.try_take(), &b);
    EXPECT_EQ(one.all.try_take(), &a);
    EXPECT_TRUE(one.all.try_put(a) && one.all.try_put(b));
}

TEST(pool_stripes, POOL_23_other_stripes_are_tried_when_the_own_one_is_empty) {
    stripes_of_four two(2);
    std::array<slot_base*, 4> all{};
    for (slot_base*& s : all) {
        s = &two.create();
    }
    EXPECT_FALSE(two.all.has_free());
    EXPECT_EQ(two.all.live(), 4U);
    for (slot_base* s : all) {
        EXPECT_TRUE(two.all.try_put(*s));
        EXPECT_EQ(two.all.try_take(), s) << "the only idle one, wherever it is";
    }
    for (slot_base* s : all) {
        EXPECT_TRUE(two.all.try_put(*s));
    }
}

TEST(pool_stripes, POOL_40_a_stripe_is_one_unit_of_work_while_something_is_out) {
    stripes_of_four one(1);
    EXPECT_EQ(one.root->units(), 0U);
    slot_base& a = one.create();
    slot_base& b = one.create();
    EXPECT_EQ(one.root->units(), 1U);
    EXPECT_TRUE(one.all.try_put(a));
    EXPECT_EQ(one.root->units(), 1U);
    EXPECT_TRUE(one.all.try_put(b));
    EXPECT_EQ(one.root->units(), 0U);
    EXPECT_TRUE(one.all.has_live()) << "idle is no work, but alive";
}

TEST(pool_stripes, POOL_5_while_waiters_are_queued_nothing_passes_the_queue) {
    stripes_of_four one(1);
    slot_base& a = one.create();
    slot_base& b = one.create();
    EXPECT_TRUE(one.all.try_put(a));
    one.all.mark_waited(true);
    EXPECT_EQ(one.all.try_take(), nullptr);
    EXPECT_FALSE(one.all.try_put(b)) << "it goes through the queue";
    unsigned units = 0;
    EXPECT_EQ(one.all.take_anywhere(true, &units), &a) << "the queue may";
    EXPECT_EQ(units, 0U);
    one.all.mark_waited(false);
    EXPECT_TRUE(one.all.try_put(a) && one.all.try_put(b));
}

TEST(pool_stripes, POOL_20_the_right_to_create_again_stays_in_its_slot) {
    stripes_of_four one(1);
    slot_base& a = one.create();
    a.home->commit([&](stripe_state x) { return roost::detail::stripe::discard(x, a.number); });
    unsigned units = 0;
    EXPECT_TRUE(one.all.try_recreate(a, units));
    EXPECT_EQ(units, 1U) << "the stripe had its unit already";
    one.root->leave();
    EXPECT_EQ(a.home->look().busy(), 1U);
    a.home->commit([](stripe_state x) { return roost::detail::stripe::stop(x); });
    units = 0;
    EXPECT_FALSE(one.all.try_recreate(a, units)) << "stopped";
    EXPECT_EQ(units, 1U);
    one.root->leave();
    a.home->commit([](stripe_state x) { return roost::detail::stripe::close(x); });
    EXPECT_FALSE(one.all.are_drained());
    a.home->commit([&](stripe_state x) { return roost::detail::stripe::emptied(x, a.number); });
    one.root->leave();
    EXPECT_TRUE(one.all.are_drained());
}

}  // namespace
