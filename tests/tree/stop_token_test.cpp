#include <roost/testing/manual_executor.hpp>
#include <roost/tree/stop_token.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace {

using roost::level;
using roost::token;
using namespace tree_support;

TEST(stop_token, TREE_48_a_std_stop_raises_a_node) {
    std::stop_source source;
    ref root = make_root();
    ref child = make_child(*root);
    const roost::ext::stop_token_link link(source.get_token(), *root);
    EXPECT_FALSE(child->is_cancelled());
    source.request_stop();
    EXPECT_TRUE(child->is_cancelled());
    EXPECT_EQ(child->why(level::cancel).kind(), roost::reason_kind::requested);
    ref late = make_root();
    const roost::ext::stop_token_link at_once(source.get_token(), *late, level::stop);
    EXPECT_EQ(late->level_now(), level::stop);
    ref unlinked = make_root();
    std::stop_source other;
    { const roost::ext::stop_token_link gone(other.get_token(), *unlinked); }
    other.request_stop();
    EXPECT_EQ(unlinked->level_now(), level::running);
}

TEST(stop_token, TREE_49_a_node_stops_a_std_source_by_post) {
    roost::testing::manual_executor exec;
    ref root = make_root();
    const roost::ext::linked_stop_source linked(token(*root), level::cancel, exec);
    const std::stop_token std_token = linked.get_token();
    int calls = 0;
    const std::stop_callback user(std_token, [&] { ++calls; });
    root->stop();
    exec.run_all();
    EXPECT_FALSE(std_token.stop_requested());
    root->cancel();
    EXPECT_FALSE(std_token.stop_requested());
    EXPECT_EQ(calls, 0);
    exec.run_all();
    EXPECT_TRUE(std_token.stop_requested());
    EXPECT_EQ(calls, 1);
}

TEST(stop_token, TREE_49_a_source_dropped_while_its_post_is_queued) {
    roost::testing::manual_executor exec;
    ref root = make_root();
    std::stop_token kept;
    {
        const roost::ext::linked_stop_source linked(token(*root), level::stop, exec);
        kept = linked.get_token();
        root->stop();
    }
    exec.run_all();
    EXPECT_FALSE(kept.stop_requested());
}

// With the standard's source: the operation ends inside request_stop() and takes everything with it.
TEST(stop_token, TREE_48_a_callback_may_destroy_link_source_and_node) {
    int destroyed = 0;
    auto source = std::make_unique<std::stop_source>();
    std::stop_source keeps_the_state = *source;
    ref root = make_root();
    root->destroyed = &destroyed;
    using fn = roost::ext::inline_callback<std::function<void()>>;
    std::unique_ptr<fn> own;
    auto link = std::make_unique<roost::ext::stop_token_link>(source->get_token(), *root);
    own = std::make_unique<fn>(token(*root), level::cancel, [&] {
        source.reset();
        root = {};
        link.reset();
        own.reset();
    });
    keeps_the_state.request_stop();
    EXPECT_EQ(link, nullptr);
    EXPECT_EQ(destroyed, 1);
}

}  // namespace
