#include <roost/tree/lease.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::level;
using roost::ext::lease;
using namespace tree_support;

static_assert(!std::is_copy_constructible_v<lease> && std::is_nothrow_move_constructible_v<lease>);

TEST(lease, TREE_38_is_one_unit) {
    ref root = make_root();
    root->watch();
    {
        lease a = lease::try_take(*root);
        EXPECT_EQ(root->units(), 1U);
        lease b = std::move(a);
        EXPECT_FALSE(a);
        EXPECT_EQ(root->units(), 1U);
        lease c = b.copy();
        EXPECT_EQ(root->units(), 2U);
        b.give_back();
        b.give_back();
        EXPECT_EQ(root->units(), 1U);
        root->cancel();
        EXPECT_TRUE(c.is_cancelled() && c.cancel_requested());
        EXPECT_EQ(c.level(), level::cancel);
        EXPECT_TRUE(c.observe().is_cancelled());
        c = lease();
        EXPECT_EQ(root->units(), 0U);
    }
    EXPECT_EQ(root->drained_count, 1);
}

TEST(lease, TREE_38_travels_to_another_thread_and_outlives_the_handles) {
    int destroyed = 0;
    lease travelling;
    {
        ref root = make_root();
        root->destroyed = &destroyed;
        ref child = make_child(*root);
        child->destroyed = &destroyed;
        travelling = lease::try_take(*child);
    }
    EXPECT_EQ(destroyed, 0);
    roost::seam::thread other([l = std::move(travelling)]() mutable { l.give_back(); });
    other.join();
    EXPECT_EQ(destroyed, 2);
}

TEST(lease, TREE_39_closing_refuses_new_leases_but_not_copies) {
    ref root = make_root();
    lease held = lease::try_take(*root);
    root->close();
    EXPECT_FALSE(lease::try_take(*root));
    lease copy = held.copy();
    EXPECT_TRUE(copy);
    held = {};
    EXPECT_FALSE(root->is_closed());
    copy = {};
    EXPECT_TRUE(root->is_closed());
    EXPECT_EQ(root->drained_count, 1);
    EXPECT_FALSE(lease().copy());
    root->cancel();
}

TEST(lease, TREE_38_adopting_takes_over_an_entered_unit) {
    ref root = make_root();
    root->enter();
    { const lease l = roost::detail::tree_access::adopt_lease(*root); }
    EXPECT_FALSE(root->has_work());
}

TEST(lease, TREE_38_returns_stop_and_cancel_of_its_node) {
    const ref root = make_root();
    const roost::ext::lease l = roost::ext::lease::try_take(*root);
    EXPECT_FALSE(l.stop_requested() || l.cancel_requested() || l.is_cancelled());
    root->stop();
    EXPECT_TRUE(l.stop_requested());
    EXPECT_FALSE(l.cancel_requested() || l.is_cancelled());
    root->cancel();
    EXPECT_TRUE(l.cancel_requested() && l.is_cancelled());
    EXPECT_FALSE(roost::ext::lease().stop_requested());
    EXPECT_FALSE(roost::ext::lease::try_take(roost::node()));
}

}  // namespace
