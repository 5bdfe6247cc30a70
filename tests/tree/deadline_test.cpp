#include <roost/tree/deadline.hpp>

#include <roost/tree/token.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::no_deadline;
using roost::own_deadline;
using roost::time_point;
using namespace std::chrono_literals;
using namespace tree_support;

constexpr time_point at(int seconds) { return time_point(std::chrono::seconds(seconds)); }

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
        outer.change(at(3));
        EXPECT_EQ(b->deadline(), at(3));
        outer.change(at(30));
        EXPECT_EQ(b->deadline(), at(5));
        EXPECT_EQ(root->deadline(), at(30));
        EXPECT_EQ(make_child(*b)->deadline(), at(5));
    }
    EXPECT_EQ(b->deadline(), at(30));
    outer.change(no_deadline);
    EXPECT_EQ(b->deadline(), no_deadline);
}

TEST(deadline, TREE_50_several_on_one_node) {
    ref root = make_root();
    ref a = make_child(*root);
    own_deadline x(*root, at(10));
    own_deadline y(*root, at(7));
    own_deadline z(*root, at(8));
    EXPECT_EQ(a->deadline(), at(7));
    y.change(at(9));
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
    outer.change(at(2));
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

TEST(deadline, TREE_51_remaining) {
    ref root = make_root();
    const roost::token t(*root);
    EXPECT_EQ(t.remaining(at(0)), roost::duration::max());
    own_deadline d(*root, at(10));
    EXPECT_EQ(t.remaining(at(4)), roost::duration(6s));
    EXPECT_EQ(t.remaining(at(11)), roost::duration::zero());
    EXPECT_EQ(d.at(), at(10));
}

}  // namespace
