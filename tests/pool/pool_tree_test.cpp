// The pool as a node: stop, work, closing, reports.

#include <roost/tree/visit.hpp>

#include <gtest/gtest.h>

#include "../tree/tree_support.hpp"
#include "support.hpp"

namespace {

using namespace pool_testing;
using roost::pool;
using roost::pool_options;
using roost::wait_status;

TEST(pool_tree, POOL_40_what_is_out_is_work_of_the_parent) {
    auto root = tree_support::make_root();
    ledger l;
    pool_options o = one_stripe(2);
    o.parent = *root;
    auto p = make_pool(l, o);
    EXPECT_FALSE(root->has_work());
    {
        client a(p);
        EXPECT_TRUE(root->has_work());
        client b(p);
        EXPECT_TRUE(root->has_work());
        a.let_go();
        EXPECT_TRUE(root->has_work());
    }
    EXPECT_FALSE(root->has_work());
    {
        client again(p);
        EXPECT_TRUE(root->has_work());
        again.discard();
    }
    EXPECT_FALSE(root->has_work());
}

TEST(pool_tree, POOL_40_every_stripe_counts_its_own) {
    auto root = tree_support::make_root();
    ledger l;
    pool_options o(4, "striped");
    o.stripes = 4;
    o.parent = *root;
    auto p = make_pool(l, o);
    {
        std::vector<std::unique_ptr<client>> all;
        for (int i = 0; i < 4; ++i) {
            all.push_back(std::make_unique<client>(p));
        }
        EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 4U);
    }
    EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 0U);
    EXPECT_FALSE(root->has_work());
}

TEST(pool_tree, POOL_41_stop_refuses_acquires_with_a_value) {
    auto root = tree_support::make_root();
    ledger l;
    pool_options o = one_stripe(1);
    o.parent = *root;
    auto p = make_pool(l, o);
    client holder(p);
    client waits(p);
    root->stop();
    ASSERT_TRUE(waits.done()) << "whoever waits is told";
    EXPECT_EQ(waits.got().status(), wait_status::stopped);
    EXPECT_THROW(static_cast<void>(std::move(waits.got()).value()), roost::pool_error);
    client late(p);
    EXPECT_EQ(late.got().status(), wait_status::stopped);
    EXPECT_EQ(p.try_acquire().status(), wait_status::stopped);
    EXPECT_EQ(p.acquire_blocking().status(), wait_status::stopped);
    EXPECT_TRUE(root->has_work()) << "what is out still counts";
    holder.let_go();
    EXPECT_FALSE(root->has_work());
}

TEST(pool_tree, POOL_41_a_pool_below_a_stopped_node_is_born_stopped_and_below_a_closed_one_refused) {
    auto root = tree_support::make_root();
    root->stop();
    ledger l;
    pool_options o = one_stripe(1);
    o.parent = *root;
    {
        auto p = make_pool(l, o);
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::stopped);
    }
    root->close();
    EXPECT_THROW(make_pool(l, o), roost::pool_error);
}

TEST(pool_tree, POOL_41_a_pool_whose_parent_has_closed_refuses) {
    auto root = tree_support::make_root();
    ledger l;
    pool_options o = one_stripe(1);
    o.parent = *root;
    auto p = make_pool(l, o);
    { client a(p); }
    root->close();
    client late(p);
    ASSERT_TRUE(late.done());
    EXPECT_EQ(late.got().status(), wait_status::stopped);
}

TEST(pool_tree, POOL_44_the_report_names_the_holders) {
    auto root = tree_support::make_root();
    ledger l;
    pool_options o = one_stripe(2);
    o.name = "db";
    o.parent = *root;
    auto p = make_pool(l, o);
    client held(p);
    const std::string text = roost::observe::tree_to_string(*root);
    EXPECT_NE(text.find("db"), std::string::npos) << text;
    EXPECT_NE(text.find("support.hpp:"), std::string::npos) << text;
}

TEST(pool_tree, POOL_42_close_refuses_drains_and_destroys) {
    ledger l;
    auto p = make_pool(l, one_stripe(3));
    client out(p);
    { client idle(p); }
    bool drained = false;
    auto closes = [](pool<thing>& from, bool& done) -> fire {
        co_await from.close();
        done = true;
    };
    closes(p, drained);
    EXPECT_EQ(l.destroyed, 1) << "what was idle";
    EXPECT_FALSE(drained);
    client late(p);
    EXPECT_EQ(late.got().status(), wait_status::closed);
    EXPECT_FALSE(p.close_blocking(roost::now() + roost::duration(1000)));
    out.let_go();
    EXPECT_TRUE(drained);
    EXPECT_EQ(l.alive(), 0);
    EXPECT_TRUE(p.close_blocking());
}

TEST(pool_tree, POOL_42_closing_an_unused_pool_completes_at_once_and_waiters_are_told) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    EXPECT_TRUE(p.close_blocking(roost::now()));
    auto q = make_pool(l, one_stripe(1));
    client holder(q);
    client waits(q);
    EXPECT_FALSE(q.close_blocking(roost::now()));
    EXPECT_EQ(waits.got().status(), wait_status::closed);
}

TEST(pool_tree, POOL_43_a_handle_may_outlive_the_pool) {
    ledger l;
    std::optional<pool<thing>> p(make_pool(l, one_stripe(1)));
    auto held = p->try_acquire_or_create();
    p.reset();
    EXPECT_EQ(l.destroyed, 0);
    held->id = 7;
    held.handle().give_back();
    EXPECT_EQ(l.destroyed, 1);
}

}  // namespace
