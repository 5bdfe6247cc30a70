// What a pool says about its holders: ages, and its line in a report of the tree.

#include <roost/tree/visit.hpp>

#include <gtest/gtest.h>

#include "../tree/tree_support.hpp"
#include "support.hpp"

#include <functional>

namespace {

using namespace pool_testing;
using roost::duration;
using roost::pool_options;
using roost::time_point;

// A clock that a test sets. Something may happen while it is read.
class hand_clock final : public roost::ext::timer_service {
public:
    time_point now() noexcept override {
        const time_point read = time;
        if (const auto happens = std::exchange(during_next, {})) {
            happens();
        }
        return read;
    }
    bool arm(roost::ext::timer&) noexcept override { return true; }
    bool disarm(roost::ext::timer&) noexcept override { return true; }
    time_point time{duration(1000)};
    std::function<void()> during_next;
};

class pool_report : public testing::Test {
protected:
    pool_options aged(std::uint32_t capacity) {
        pool_options o = one_stripe(capacity);
        o.name = "db";
        o.parent = *root;
        o.where = where;
        o.timers = &clock;
        o.exact_clock = true;
        o.track_ages = true;
        return o;
    }
    tree_support::ref root = tree_support::make_root();
    hand_executor where;
    hand_clock clock;
    ledger l;
};

TEST_F(pool_report, POOL_29_a_loan_that_began_after_the_clock_was_read_has_no_age) {
    {
        auto p = make_pool(l, aged(2));
        const auto old = p.try_acquire_or_create("old");
        clock.time += duration(500);
        roost::acquired<thing> young(roost::wait_status::empty);
        clock.during_next = [&] {
            clock.time += duration(100);
            young = p.try_acquire_or_create("young");
        };
        const auto all = p.holders();
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[0].name(), "old");
        EXPECT_EQ(all[0].age(), duration(500));
        EXPECT_EQ(all[1].name(), "young");
        EXPECT_EQ(all[1].age(), duration(0)) << "not less than none";
    }
    where.run();
}

TEST(pool_ages, POOL_29_the_exact_clock_without_timers) {
    ledger l;
    pool_options o = one_stripe(1);
    o.exact_clock = true;
    o.track_ages = true;
    auto p = make_pool(l, o);
    const time_point before = roost::now();
    const auto held = p.try_acquire_or_create("held");
    const time_point taken = roost::now();
    while (roost::now() == taken) {}
    const auto all = p.holders();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_GT(all[0].age(), duration(0));
    EXPECT_LE(all[0].age(), roost::now() - before);
}

TEST_F(pool_report, POOL_44_every_holder_and_since_when) {
    {
        auto p = make_pool(l, aged(2));
        const auto first = p.try_acquire_or_create("first");
        clock.time += duration(300);
        const auto second = p.try_acquire_or_create("second");
        clock.time += duration(200);
        roost::observe::node_description d;
        roost::detail::tree_access::core_of(p.tree_node())
            .functions()
            .describe(roost::detail::tree_access::core_of(p.tree_node()), d);
        EXPECT_EQ(d.state, "open");
        const std::string text(d.waits_on);
        EXPECT_EQ(text.find("first ("), 0U) << "the oldest comes first: " << text;
        EXPECT_NE(text.find("), second ("), std::string::npos) << text;
        ASSERT_TRUE(d.started.has_value());
        EXPECT_EQ(*d.started, time_point(duration(1000))) << "when the oldest loan began";
    }
    where.run();
}

TEST_F(pool_report, POOL_44_no_holders) {
    {
        auto p = make_pool(l, aged(1));
        roost::observe::node_description d;
        roost::detail::tree_access::core_of(p.tree_node())
            .functions()
            .describe(roost::detail::tree_access::core_of(p.tree_node()), d);
        EXPECT_EQ(d.state, "open");
        EXPECT_EQ(d.waits_on, "");
        EXPECT_FALSE(d.started.has_value());
    }
    where.run();
}

TEST_F(pool_report, POOL_44_a_pool_that_drains_says_so) {
    {
        auto p = make_pool(l, aged(1));
        const auto held = p.try_acquire_or_create("slow");
        EXPECT_FALSE(p.close_blocking(roost::now()));
        const std::string text = roost::observe::tree_to_string(*root);
        EXPECT_NE(text.find("closing"), std::string::npos) << text;
        EXPECT_NE(text.find("slow"), std::string::npos) << text;
    }
    where.run();
}

}  // namespace
