#include <roost/tree/detail/deadline.hpp>
#include <roost/tree/token.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::level;
using roost::token;
using namespace tree_support;

static_assert(std::is_nothrow_copy_constructible_v<token> && std::is_nothrow_default_constructible_v<token>);

TEST(token, TREE_36_observes_level_reason_and_deadline) {
    ref root = make_root();
    const token t(*root);
    const token copy = t;
    EXPECT_TRUE(t == copy);
    EXPECT_EQ(t.level(), level::running);
    EXPECT_FALSE(t.reason());
    EXPECT_FALSE(t.stop_requested() || t.cancel_requested() || t.is_cancelled());
    root->stop(roost::reason(roost::reason_kind::shutdown, "bye"));
    EXPECT_TRUE(copy.stop_requested());
    EXPECT_FALSE(copy.cancel_requested());
    EXPECT_EQ(copy.reason().text(), "bye");
    ASSERT_TRUE(root->enter_ignore());
    root->cancel();
    EXPECT_TRUE(t.cancel_requested());
    EXPECT_FALSE(t.is_cancelled());
    EXPECT_EQ(t.level(), level::stop);
    root->leave_ignore();
    EXPECT_TRUE(t.is_cancelled());
    EXPECT_EQ(t.deadline(), roost::no_deadline);
}

TEST(token, TREE_37_keeps_memory_and_is_no_work) {
    int destroyed = 0;
    token t;
    {
        ref root = make_root();
        root->destroyed = &destroyed;
        t = token(*root);
        EXPECT_FALSE(root->has_work());
        root->close();
        root->mark_gone();
    }
    EXPECT_EQ(destroyed, 0);
    EXPECT_TRUE(t.stop_requested());
    t = {};
    EXPECT_EQ(destroyed, 1);
}

TEST(token, TREE_36_a_token_of_nothing_never_stops) {
    const token t;
    EXPECT_FALSE(t);
    EXPECT_EQ(roost::detail::tree_access::target_of(t), nullptr);
    EXPECT_FALSE(t.stop_requested() || t.cancel_requested() || t.is_cancelled());
    EXPECT_EQ(t.remaining(), roost::duration::max());
    EXPECT_EQ(t.level(), level::running);
}

TEST(token, TREE_51_the_time_left_of_a_closing_node_is_by_its_own_clock) {
    static constexpr roost::detail::node_functions clocked{
        .kind = "clocked", .destroy = &tree_support::probe::destroy, .clock = +[](const roost::detail::node&) noexcept {
            return roost::time_point(std::chrono::seconds(100));
        }};
    const tree_support::ref n = tree_support::make_root("root", clocked);
    const roost::detail::own_deadline limit(*n, roost::time_point(std::chrono::seconds(103)));
    const token t(*n);
    n->enter();
    EXPECT_EQ(t.remaining(), std::chrono::seconds(3));
    n->close();
    EXPECT_EQ(t.remaining(), std::chrono::seconds(3)) << "it has work, so its clock is there";
    n->leave();
    EXPECT_TRUE(n->is_closed());
    EXPECT_EQ(t.remaining(), t.remaining(roost::now()));
}

}  // namespace
