// Counting work up the tree, on one thread. (Interleavings: work_model; many threads: work_stress.)

#include <roost/tree/detail/node.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::level;
using roost::detail::admission;
using roost::detail::child_kind;
using namespace tree_support;

TEST(work_count, TREE_16_a_unit_is_seen_at_every_ancestor) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*a), c = make_child(*b);
    EXPECT_FALSE(root->has_work());
    c->enter();
    for (probe* n : {root.get(), a.get(), b.get(), c.get()}) {
        EXPECT_TRUE(n->has_work());
        EXPECT_EQ(n->units(), 1U);
    }
    b->enter();
    EXPECT_EQ(b->units(), 2U);
    EXPECT_EQ(a->units(), 1U);
    c->leave();
    EXPECT_EQ(b->units(), 1U);
    EXPECT_TRUE(root->has_work());
    b->leave();
    EXPECT_FALSE(root->has_work());
    EXPECT_FALSE(c->has_work());
}

TEST(work_count, TREE_18_drained_once_per_crossing) {
    ref root = make_root();
    root->watch();
    root->enter();
    root->enter();
    root->leave();
    EXPECT_EQ(root->drained_count, 0);
    root->leave();
    EXPECT_EQ(root->drained_count, 1);
    ref child = make_child(*root);
    child->enter();
    child->leave();
    EXPECT_EQ(root->drained_count, 2);
}

TEST(work_count, TREE_20_closing_admits_members_only) {
    ref scope = make_root();
    scope->enter();  // the body
    EXPECT_TRUE(scope->close());
    EXPECT_FALSE(scope->close());
    EXPECT_FALSE(scope->try_enter());
    EXPECT_FALSE(make_child(*scope, "outsider", child_kind::working));
    ref member = make_child(*scope, "member", child_kind::working, admission::member);
    ASSERT_TRUE(member);
    scope->enter();  // a holder may always
    scope->leave();
    scope->leave();
    EXPECT_EQ(scope->drained_count, 0);
    EXPECT_FALSE(scope->is_closed());
    member->leave();
    EXPECT_EQ(scope->drained_count, 1);
    EXPECT_TRUE(scope->is_closed());
    EXPECT_FALSE(make_child(*scope, "late", child_kind::working, admission::member));
    EXPECT_FALSE(make_child(*scope, "late", child_kind::idle, admission::member));
    EXPECT_FALSE(scope->try_enter());
}

TEST(work_count, TREE_20_who_is_shown_a_closing_node_may_put_its_end_off) {
    ref scope = make_root();
    scope->enter();  // the body
    EXPECT_TRUE(scope->try_enter_as_member());
    EXPECT_TRUE(scope->close());
    EXPECT_TRUE(scope->try_enter_as_member());
    EXPECT_EQ(scope->units(), 3U);
    scope->leave();
    scope->leave();
    EXPECT_EQ(scope->drained_count, 0);
    scope->leave();
    EXPECT_EQ(scope->drained_count, 1);
    EXPECT_FALSE(scope->try_enter_as_member());
}

TEST(work_count, TREE_20_the_body_closes_with_its_last_step) {
    ref scope = make_root();
    ref job = make_child(*scope, "job", child_kind::working);
    job->close_and_leave();
    EXPECT_EQ(job->drained_count, 1);
    EXPECT_TRUE(job->is_closed());
    EXPECT_FALSE(scope->has_work());
    ref other = make_child(*scope, "job", child_kind::working);
    ref below = make_child(*other, "below", child_kind::working);
    other->close_and_leave();
    EXPECT_EQ(other->drained_count, 0);
    EXPECT_TRUE(scope->has_work());
    below->close_and_leave();
    EXPECT_EQ(other->drained_count, 1);
    EXPECT_FALSE(scope->has_work());
}

TEST(work_count, TREE_21_closing_without_work_drains_at_once) {
    ref scope = make_root();
    EXPECT_TRUE(scope->close());
    EXPECT_EQ(scope->drained_count, 1);
    EXPECT_TRUE(scope->is_closed());
}

TEST(work_count, TREE_22_an_idle_child_delays_no_ancestor) {
    ref root = make_root();
    ref idle = make_child(*root);
    EXPECT_FALSE(root->has_work());
    EXPECT_EQ(root->work_in_subtree(), 0U);
    root->close();
    EXPECT_EQ(root->drained_count, 1);
}

TEST(work_count, TREE_23_work_counts_when_the_handle_is_gone) {
    ref root = make_root();
    root->watch();
    int destroyed = 0;
    ref middle = make_child(*root);
    ref leaf = make_child(*middle);
    leaf->destroyed = middle->destroyed = &destroyed;
    probe* held = leaf.get();
    held->enter();
    middle = {};
    leaf = {};
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(root->work_in_subtree(), 1U);
    root->cancel();
    EXPECT_EQ(held->level_now(), level::cancel);
    held->leave();
    EXPECT_EQ(destroyed, 2);
    EXPECT_EQ(root->drained_count, 1);
    EXPECT_FALSE(root->has_members());
}

TEST(work_count, TREE_24_a_late_unit_counts) {
    ref root = make_root();
    ref child = make_child(*root);
    root->watch();
    EXPECT_TRUE(root->try_enter());
    root->leave();
    EXPECT_EQ(root->drained_count, 1);
    root->stop();
    child->enter();
    EXPECT_TRUE(root->has_work());
    EXPECT_TRUE(root->try_enter());
    root->leave();
    child->leave();
    EXPECT_EQ(root->drained_count, 2);
}

TEST(work_count, TREE_23_a_root_without_handles_dies_with_its_last_unit) {
    int destroyed = 0;
    ref root = make_root();
    root->destroyed = &destroyed;
    probe& bare = *root;
    bare.enter();
    root = {};
    EXPECT_EQ(destroyed, 0);
    bare.leave();
    EXPECT_EQ(destroyed, 1);
}

TEST(work_count, TREE_18_a_view_without_drained_closes_quietly) {
    ref root = make_root("root", probe::quiet);
    root->enter();
    root->close();
    EXPECT_FALSE(root->is_closed());
    root->leave();
    EXPECT_TRUE(root->is_closed());
    EXPECT_FALSE(root->try_enter());
    EXPECT_EQ(root->drained_count, 0);
}

TEST(work_count, TREE_25_work_in_subtree_counts_units_not_announcements) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*a), c = make_child(*root, "job", child_kind::working);
    b->enter();
    b->enter();
    root->enter();
    EXPECT_EQ(root->work_in_subtree(), 4U);
    EXPECT_EQ(a->work_in_subtree(), 2U);
    EXPECT_EQ(c->work_in_subtree(), 1U);
    b->leave();
    b->leave();
    root->leave();
    c->leave();
    EXPECT_EQ(root->work_in_subtree(), 0U);
}

TEST(work_count, TREE_27_work_below_a_closed_node_is_refused) {
    ref root = make_root();
    ref scope = make_child(*root);
    ref idle = make_child(*scope);
    ref deep = make_child(*idle);
    EXPECT_TRUE(scope->close());
    EXPECT_FALSE(deep->try_enter());
    EXPECT_FALSE(make_child(*deep, "job", child_kind::working));
    for (probe* n : {root.get(), scope.get(), idle.get(), deep.get()}) {
        EXPECT_EQ(n->units(), 0U);
    }
    EXPECT_EQ(scope->drained_count, 1);
}

TEST(work_count, TREE_27_a_member_is_refused_where_an_ancestor_is_closed) {
    ref root = make_root();
    ref child = make_child(*root);
    EXPECT_TRUE(child->try_enter_as_member());
    EXPECT_EQ(root->work_in_subtree(), 1U);
    child->leave();
    static_cast<void>(root->close());
    EXPECT_FALSE(child->try_enter_as_member()) << "the child is open, but its unit would start work below a closed root";
    EXPECT_FALSE(root->has_work());
    EXPECT_FALSE(child->has_work());
}

TEST(work_count, TREE_28_a_drain_can_be_postponed) {
    ref root = make_root();
    root->watch();
    ref job = make_child(*root, "job", child_kind::working);
    job->postpone = true;
    job->close_and_leave();
    EXPECT_EQ(job->drained_count, 1);
    EXPECT_TRUE(root->has_work());
    EXPECT_EQ(root->drained_count, 0);
    job->finish_drain();
    EXPECT_FALSE(root->has_work());
    EXPECT_EQ(root->drained_count, 1);
}

TEST(work_count, TREE_28_late_work_during_a_postponed_drain_keeps_the_ancestors_counting) {
    ref root = make_root();
    ref node = make_child(*root);
    node->watch();
    node->postpone = true;
    node->enter();
    node->leave();
    node->enter();
    node->finish_drain();
    EXPECT_TRUE(root->has_work());
    node->postpone = false;
    node->leave();
    EXPECT_FALSE(root->has_work());
    EXPECT_EQ(node->drained_count, 2);
}

TEST(work_count_death, TREE_26_misuse_is_named) {
    ref root = make_root("the node");
    ref scope = make_child(*root, "closed scope");
    ref idle = make_child(*scope, "idle one");
    scope->close();
    EXPECT_DEATH(idle->enter(), "idle one.*closed");
#if ROOST_CHECKED
    EXPECT_DEATH(root->leave(), "given back that was not taken");
#endif
}

}  // namespace
