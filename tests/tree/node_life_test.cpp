// Memory: who keeps whom, deep and wide trees, death under a walker.

#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/visit.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

namespace {

using roost::level;
using roost::detail::child_kind;
using namespace tree_support;

TEST(node_life, TREE_30_children_keep_parents_and_not_the_other_way) {
    int destroyed = 0;
    ref root = make_root();
    root->destroyed = &destroyed;
    ref a = make_child(*root);
    a->destroyed = &destroyed;
    ref b = make_child(*a);
    b->destroyed = &destroyed;
    a = {};
    root = {};
    EXPECT_EQ(destroyed, 0);
    ref top = ref::share(static_cast<probe&>(*b->parent()->parent()));
    top->cancel();
    EXPECT_EQ(b->level_now(), level::cancel);
    b = {};
    EXPECT_EQ(destroyed, 2);
    EXPECT_FALSE(top->has_members());
    top = {};
    EXPECT_EQ(destroyed, 3);
}

TEST(node_life, TREE_30_a_refused_child_leaves_nothing_behind) {
    int destroyed = 0;
    ref root = make_root();
    root->destroyed = &destroyed;
    root->close();
    EXPECT_FALSE(make_child(*root));
    root = {};
    EXPECT_EQ(destroyed, 1);
}

TEST(node_life, TREE_31_a_long_lived_node_keeps_live_children_only) {
    ref root = make_root();
    ref keep = make_child(*root);
    for (int i = 0; i < 1'000'000; ++i) {
        ref child = make_child(*root, "child", child_kind::working);
        child->close_and_leave();
    }
    std::size_t seen = 0;
    roost::observe::visit(*root, 100, [&](const roost::observe::node_description&) noexcept { ++seen; });
    EXPECT_EQ(seen, 2U);
    EXPECT_EQ(root->units(), 0U);
}

// Everything on a thread with a 64 KiB stack, so that recursion over depth would be seen.
void on_small_stack(void* (*body)(void*)) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
#if ROOST_ASAN || defined(__SANITIZE_THREAD__)
    constexpr std::size_t stack = 256 * 1024;
#else
    constexpr std::size_t stack = 64 * 1024;
#endif
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack), 0);
    pthread_t id{};
    ASSERT_EQ(pthread_create(&id, &attributes, body, nullptr), 0);
    ASSERT_EQ(pthread_join(id, nullptr), 0);
    pthread_attr_destroy(&attributes);
}

constexpr int depth = 100'000;

TEST(node_life, TREE_32_a_deep_chain_needs_no_stack) {
    on_small_stack([](void*) -> void* {
        ref root = make_root();
        root->watch();
        ref last = root;
        for (int i = 0; i < depth; ++i) {
            last = make_child(*last);
        }
        last->enter();
        EXPECT_TRUE(root->has_work());
        EXPECT_EQ(root->work_in_subtree(), 1U);
        root->stop();
        EXPECT_EQ(last->level_now(), level::stop);
        root->cancel(roost::reason(roost::reason_kind::shutdown, "deep"));
        EXPECT_EQ(last->level_now(), level::cancel);
        EXPECT_EQ(last->why(level::cancel).text(), "deep");
        EXPECT_EQ(roost::observe::visit(*root, 1'000'000, [](const roost::observe::node_description&) noexcept {}).visited,
                  std::size_t(depth) + 1);
        probe* held = last.get();
        last = {};
        held->leave();  // dies from the leaf up
        EXPECT_EQ(root->drained_count, 1);
        EXPECT_FALSE(root->has_members());
        return nullptr;
    });
}

TEST(node_life, TREE_32_a_wide_tree) {
    ref root = make_root();
    std::vector<ref> children;
    children.reserve(depth);
    for (int i = 0; i < depth; ++i) {
        children.push_back(make_child(*root));
    }
    root->cancel();
    for (const ref& c : children) {
        ASSERT_EQ(c->raised_count, 1);
    }
    children.clear();
    EXPECT_FALSE(root->has_members());
}

// A node that drops references while it is told.
struct dropper : probe {
    std::vector<roost::detail::node_ref<>>* victims;
    roost::detail::node_ref<>* own = nullptr;
    static void on_raise(roost::detail::node& n, level) noexcept {
        auto& self = static_cast<dropper&>(n);
        self.victims->clear();
        if (self.own != nullptr) {
            *self.own = {};
        }
    }
    static void destroy_it(roost::detail::node& n) noexcept {
        auto& self = static_cast<dropper&>(n);
        self.~dropper();
        roost::seam::deallocate_frame(&self, sizeof(dropper));
    }
    static constexpr roost::detail::node_functions table{
        .kind = "dropper", .destroy = &destroy_it, .level_raised = &on_raise};
    dropper(roost::detail::node& up, std::vector<roost::detail::node_ref<>>& v) : probe(table, up, "dropper"), victims(&v) {}
};

TEST(node_life, TREE_33_nodes_may_die_during_a_walk) {
    ref root = make_root();
    std::vector<roost::detail::node_ref<>> victims;
    int destroyed = 0;
    const auto victim = [&] {
        ref v = make_child(*root);
        v->destroyed = &destroyed;
        ref below = make_child(*v);
        below->destroyed = &destroyed;
        victims.push_back(roost::detail::node_ref<>::share(*v));
        victims.push_back(roost::detail::node_ref<>::share(*below));
    };
    victim();
    auto* d = ::new (roost::seam::allocate_frame(sizeof(dropper))) dropper(*root, victims);
    ASSERT_EQ(d->attach(child_kind::idle), roost::detail::attached::yes);
    auto own = roost::detail::node_ref<>::adopt(d);
    d->own = &own;
    victim();
    root->cancel();
    EXPECT_EQ(destroyed, 4);
    EXPECT_FALSE(root->has_members());
    EXPECT_FALSE(own);
}

TEST(node_life, TREE_33_a_visitor_may_keep_what_it_was_shown) {
    ref root = make_root();
    ref a = make_child(*root);
    roost::detail::node_ref<> kept;
    roost::observe::visit(*root, 10, [&](const roost::observe::node_description& d) noexcept {
        if (d.depth == 1) {
            kept = roost::detail::node_ref<>::try_share(*d.target);
            a = {};
            EXPECT_TRUE(d.target->try_retain());
            d.target->release();
            kept = {};
            EXPECT_FALSE(d.target->try_retain()) << "its last holder has left";
            EXPECT_FALSE(roost::detail::node_ref<>::try_share(*d.target));
        }
    });
    EXPECT_FALSE(root->has_members());
}

TEST(node_life, TREE_34_a_finished_child_can_leave_the_list_early) {
    ref root = make_root();
    ref child = make_child(*root);
    child->unlink_early();
    child->unlink_early();
    EXPECT_FALSE(root->has_members());
    root->cancel();
    EXPECT_EQ(child->level_now(), level::running);
    ref other = make_root();
    other->unlink_early();
}

TEST(node_life, TREE_35_one_block_per_node) {
    EXPECT_LE(sizeof(roost::detail::node), 96U);
    EXPECT_LE(alignof(roost::detail::node), 16U);
}

TEST(node_life, TREE_58_a_node_is_attached_once) {
    ref root = make_root("r");
    ref child = make_child(*root, "c");
    const std::uint32_t units = root->units();
    EXPECT_EQ(child->attach(roost::detail::child_kind::working), roost::detail::attached::twice);
    EXPECT_EQ(root->units(), units);
    EXPECT_FALSE(child->has_work());
    std::size_t met = 0;
    roost::observe::visit(*root, 10, [&](const roost::observe::node_description&) { ++met; });
    EXPECT_EQ(met, 2U) << "it is in the list once";
}

TEST(node_life, TREE_59_an_intermediate_node_without_handles_still_passes_everything_on) {
    ref root = make_root("r");
    ref grandchild;
    {
        ref middle = make_child(*root, "m");
        grandchild = make_child(*middle, "g");
    }
    grandchild->enter();
    EXPECT_TRUE(root->has_work()) << "counted through the node that nobody holds";
    root->stop();
    EXPECT_EQ(grandchild->level_now(), roost::level::stop);
    root->close();
    EXPECT_FALSE(root->is_closed()) << "the unit below holds the end up";
    root->cancel();
    EXPECT_TRUE(grandchild->is_cancelled());
    grandchild->leave();
    EXPECT_TRUE(root->is_closed());
}

TEST(node_life, TREE_57_a_node_without_other_holders_leaves_in_one_step) {
    ref root = make_root("r");
    ref child = make_child(*root, "c");
    child->enter();
    ref other = child;
    EXPECT_FALSE(child->end_alone(1)) << "somebody else holds it";
    other = {};
    auto* last = child.release_to_caller();
    EXPECT_TRUE(last->end_alone(1));
    EXPECT_FALSE(root->has_work());
    EXPECT_FALSE(root->has_members());
}

TEST(node_life, TREE_61_only_an_unshared_child_ends_in_one_step) {
    int destroyed = 0;
    ref root = make_root();
    ref child = make_child(*root);
    child->destroyed = &destroyed;
    ref other = child;
    EXPECT_FALSE(roost::detail::node_access::end_unshared(*child));
    other = {};
    child->enter();
    EXPECT_FALSE(roost::detail::node_access::end_unshared(*child));
    child->leave();
    ref below = make_child(*child);
    EXPECT_FALSE(roost::detail::node_access::end_unshared(*child));
    below = {};
    EXPECT_EQ(destroyed, 0);
    EXPECT_TRUE(roost::detail::node_access::end_unshared(*child.release_to_caller()));
    EXPECT_EQ(destroyed, 1);
    EXPECT_FALSE(root->has_members());
}

}  // namespace
