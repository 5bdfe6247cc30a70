// The walk itself, with a visitor of its own: order, one lock at a time, giving others a chance.

#include <roost/tree/detail/walker.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using namespace roost::detail;
using namespace tree_support;
using access = roost::detail::node_access;

struct recorder {
    std::vector<std::string> events;
    look answer = look::visit;
    std::size_t looks = 0;
    std::function<void(std::size_t)> on_look;

    look look_at(member& m) noexcept {
        if (on_look) {
            on_look(++looks);
        }
        return m.kind() == member_kind::node ? answer : look::skip;
    }
    bool visit(roost::detail::node& n) noexcept {
        events.push_back("visit " + std::string(n.name()));
        // No lock is held here, so every lock can be taken.
        for (roost::detail::node* up = &n; up != nullptr; up = up->parent()) {
            EXPECT_TRUE(access::lock_of(*up).try_lock());
            access::lock_of(*up).unlock();
        }
        return true;
    }
    static bool run(member&) noexcept { return false; }
    static void ran(member&) noexcept {}
    void finish(roost::detail::node& n) noexcept {
        events.push_back("finish " + std::string(n.name()));
        EXPECT_FALSE(access::lock_of(n).try_lock()) << "finish runs under the lock of its node";
        if (n.parent() != nullptr) {
            EXPECT_TRUE(access::lock_of(*n.parent()).try_lock()) << "at most one lock is held";
            access::lock_of(*n.parent()).unlock();
        }
    }
};

TEST(walker, TREE_33_goes_through_the_tree_with_at_most_one_lock) {
    ref root = make_root("r");
    ref a = make_child(*root, "a"), b = make_child(*a, "b"), c = make_child(*root, "c");
    recorder visitor;
    walker walk(visitor);
    walk.run(*root);
    EXPECT_EQ(visitor.events,
              (std::vector<std::string>{"visit a", "visit b", "finish b", "finish a", "visit c", "finish c", "finish r"}));
}

TEST(walker, TREE_33_leaves_no_cursor_behind) {
    ref root = make_root("r");
    ref a = make_child(*root, "a"), b = make_child(*a, "b");
    recorder visitor;
    walker walk(visitor);
    walk.run(*root);
    EXPECT_EQ(access::cursors_of(*a), 0);
    EXPECT_EQ(access::cursors_of(*b), 0);
    a->unlink_early();
    EXPECT_FALSE(root->has_members());
}

// A long list is not held in one go: another thread gets the lock in between.
TEST(walker, TREE_33_gives_others_a_chance_in_a_long_list) {
    ref root = make_root("r");
    std::vector<ref> children;
    for (int i = 0; i < 1000; ++i) {
        children.push_back(make_child(*root));
    }
    recorder visitor;
    visitor.answer = look::skip;
    walker walk(visitor);
    walk.run(*root);
    EXPECT_EQ(visitor.events, std::vector<std::string>{"finish r"});
    for (const ref& c : children) {
        ASSERT_EQ(access::cursors_of(*c), 0);
    }
}

}  // namespace
