#include <roost/tree/detail/deadline.hpp>

#include <roost/tree/token.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::no_deadline;
using roost::time_point;
using roost::detail::own_deadline;
using namespace std::chrono_literals;
using namespace tree_support;

constexpr time_point at(int seconds) { return time_point(std::chrono::seconds(seconds)); }
void move(own_deadline& d, time_point to) {
    EXPECT_EQ(d.try_move(roost::detail::deadline_change::to(to), at(0)), roost::detail::deadline_move::moved);
}

TEST(deadline, TREE_50_the_least_on_the_way_up) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*a);
    EXPECT_EQ(b->deadline(), no_deadline);
    own_deadline outer(*root, at(10));
    EXPECT_EQ(b->deadline(), at(10));
    {
        own_deadline inner(*a, at(5));
        EXPECT_EQ(b->deadline(), at(5));
        EXPECT_EQ(root->deadline(), at(10));
        own_deadline later(*b, at(20));
        EXPECT_EQ(b->deadline(), at(5));
        move(outer, at(3));
        EXPECT_EQ(b->deadline(), at(3));
        move(outer, at(30));
        EXPECT_EQ(b->deadline(), at(5));
        EXPECT_EQ(root->deadline(), at(30));
        EXPECT_EQ(make_child(*b)->deadline(), at(5));
    }
    EXPECT_EQ(b->deadline(), at(30));
    move(outer, no_deadline);
    EXPECT_EQ(b->deadline(), no_deadline);
}

TEST(deadline, TREE_50_several_on_one_node) {
    ref root = make_root();
    ref a = make_child(*root);
    own_deadline x(*root, at(10));
    own_deadline y(*root, at(7));
    own_deadline z(*root, at(8));
    EXPECT_EQ(a->deadline(), at(7));
    move(y, at(9));
    EXPECT_EQ(a->deadline(), at(8));
}

TEST(deadline, TREE_50_a_shield_cuts) {
    ref root = make_root();
    own_deadline outer(*root, at(1));
    ref shield = make_shield(*root);
    ref inside = make_child(*shield);
    EXPECT_EQ(inside->deadline(), no_deadline);
    own_deadline budget(*shield, at(4));
    EXPECT_EQ(inside->deadline(), at(4));
    move(outer, at(2));
    EXPECT_EQ(inside->deadline(), at(4));
}

TEST(deadline, TREE_50_callbacks_and_deadlines_share_the_list) {
    ref root = make_root();
    ref child = make_child(*root);
    {
        own_deadline d(*root, at(3));
        root->cancel();
        EXPECT_EQ(child->deadline(), at(3));
        EXPECT_EQ(child->raised_count, 1);
    }
    EXPECT_EQ(child->deadline(), no_deadline);
}

TEST(deadline, TREE_120_limits_that_have_passed_cancel_up_to_a_shield) {
    ref root = make_root();
    ref outer = make_child(*root);
    ref shield = make_shield(*outer);
    ref inner = make_child(*shield);
    ref below = make_child(*inner);
    own_deadline far(*outer, at(1));
    own_deadline budget(*shield, at(2), roost::detail::deadline_kind::advice);
    own_deadline near(*inner, at(3));
    roost::detail::cancel_passed(*below, at(2));
    EXPECT_FALSE(below->is_cancelled()) << "a budget is advice, and the outer limit is behind the shield";
    roost::detail::cancel_passed(*below, at(3));
    EXPECT_TRUE(below->is_cancelled() && inner->is_cancelled());
    EXPECT_EQ(below->why(roost::level::cancel).kind(), roost::reason_kind::timeout);
    EXPECT_FALSE(shield->is_cancelled());
    EXPECT_FALSE(outer->is_cancelled());
    roost::detail::cancel_passed(*outer, at(1));
    EXPECT_TRUE(outer->is_cancelled());
    EXPECT_FALSE(root->is_cancelled());
}

TEST(deadline, TREE_51_remaining) {
    ref root = make_root();
    const roost::token t(*root);
    EXPECT_EQ(t.remaining(at(0)), roost::duration::max());
    own_deadline d(*root, at(10));
    EXPECT_EQ(t.remaining(at(4)), roost::duration(6s));
    EXPECT_EQ(t.remaining(at(11)), roost::duration::zero());
    EXPECT_EQ(d.at(), at(10));
}

TEST(deadline, TREE_122_a_limit_is_moved_until_it_has_passed) {
    using roost::detail::deadline_change;
    using roost::detail::deadline_move;
    ref root = make_root();
    ref child = make_child(*root);
    own_deadline d(*root, at(10));
    EXPECT_EQ(d.try_move(deadline_change::by(5s), at(9)), roost::detail::deadline_move::moved);
    EXPECT_EQ(child->deadline(), at(15));
    EXPECT_EQ(d.try_move(deadline_change::in(3s), at(9)), roost::detail::deadline_move::moved);
    EXPECT_EQ(child->deadline(), at(12));
    EXPECT_FALSE(d.try_pass(at(11)));
    EXPECT_TRUE(d.is_pending());
    EXPECT_EQ(d.try_move(roost::detail::deadline_change::to(at(20)), at(12)), deadline_move::passed_before)
        << "by the clock";
    EXPECT_TRUE(d.has_passed() && d.try_pass(at(0)));
    EXPECT_EQ(child->deadline(), at(12));
    d.end();
    EXPECT_EQ(d.try_move(roost::detail::deadline_change::to(at(20)), at(1)), deadline_move::ended);
    EXPECT_FALSE(d.try_pass(at(20)));
    EXPECT_TRUE(d.has_passed());
    EXPECT_EQ(child->deadline(), no_deadline);
}

TEST(deadline, TREE_122_moved_into_the_past_it_has_passed) {
    using roost::detail::deadline_change;
    using roost::detail::deadline_move;
    ref root = make_root();
    own_deadline d(*root, at(10));
    EXPECT_EQ(d.try_move(deadline_change::by(-5s), at(5)), deadline_move::passed_now);
    EXPECT_EQ(d.try_move(deadline_change::by(50s), at(5)), deadline_move::passed_before);
    own_deadline other(*root, no_deadline);
    EXPECT_EQ(other.try_move(deadline_change::by(-1h), at(5)), roost::detail::deadline_move::moved);
    EXPECT_EQ(other.at(), no_deadline);
    EXPECT_EQ(other.try_move(deadline_change::in(roost::duration::max()), at(5)), roost::detail::deadline_move::moved);
    EXPECT_EQ(other.at(), no_deadline);
    roost::detail::cancel_passed(*root, at(5));
    EXPECT_TRUE(root->is_cancelled());
    EXPECT_TRUE(other.is_pending());
}

}  // namespace
