#include <roost/tree/detail/raise_turn.hpp>

#include <roost/tree/callback.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using tree_support::ref;

// A node that is raised by a callback of the one before.
class follower {
public:
    follower() = default;
    void follow(const ref& before) {
        callbacks_.push_back(std::make_unique<inline_callback<pass>>(token(*before), level::cancel, pass{this}));
    }
    void raise(const char* why) noexcept { turn_.raise(*node_, level::cancel, reason(reason_kind::requested, why)); }
    [[nodiscard]] const ref& node() const { return node_; }

private:
    struct pass {
        follower* to;
        void operator()() const noexcept { to->raise("in turn"); }
    };
    ref node_ = tree_support::make_root();
    detail::raise_turn turn_;
    std::vector<std::unique_ptr<inline_callback<pass>>> callbacks_;
};

TEST(raise_turn, TREE_101_a_chain_of_callbacks_that_raise_takes_constant_stack_and_is_reached_before_the_first_returns) {
    constexpr std::size_t length = 100'000;
    std::vector<std::unique_ptr<follower>> all;
    for (std::size_t i = 0; i < length; ++i) {
        all.push_back(std::make_unique<follower>());
        if (i > 0) {
            all[i]->follow(all[i - 1]->node());
        }
    }
    all[0]->raise("first");
    for (const auto& one : all) {
        ASSERT_TRUE(one->node()->is_cancelled());
    }
    EXPECT_EQ(all.front()->node()->why(level::cancel).text(), "first");
    EXPECT_EQ(all.back()->node()->why(level::cancel).text(), "in turn");
}

TEST(raise_turn, TREE_132_a_chain_of_nodes_with_two_causes_each_takes_constant_stack) {
    constexpr std::size_t length = 100'000;
    std::vector<std::unique_ptr<follower>> all;
    for (std::size_t i = 0; i < length; ++i) {
        all.push_back(std::make_unique<follower>());
        if (i > 0) {
            all[i]->follow(all[i - 1]->node());
            all[i]->follow(all[i - 1]->node());
        }
    }
    all[0]->raise("first");
    for (const auto& one : all) {
        ASSERT_TRUE(one->node()->is_cancelled());
        ASSERT_EQ(one->node()->raised_count, 1);
    }
}

TEST(raise_turn, TREE_101_a_turn_that_is_taken_is_not_taken_again) {
    follower one;
    one.raise("first");
    EXPECT_TRUE(one.node()->is_cancelled());
    one.raise("second");
    EXPECT_EQ(one.node()->why(level::cancel).text(), "first");
    EXPECT_EQ(one.node()->raised_count, 1);
}

}  // namespace
