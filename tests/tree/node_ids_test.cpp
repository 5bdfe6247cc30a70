#include <roost/tree/detail/node_ids.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using roost::detail::node_ids;
using namespace tree_support;

TEST(node_ids, OBS_104_a_node_keeps_its_number) {
    ref root = make_root();
    ref child = make_child(*root);
    const std::uint64_t id = node_ids::of(*child);
    EXPECT_NE(id, 0U);
    EXPECT_EQ(node_ids::of(*child), id);
    EXPECT_NE(node_ids::of(*root), id);
    EXPECT_EQ(node_ids::find(id).get(), child.get());
}

TEST(node_ids, OBS_104_a_number_is_never_given_again) {
    ref root = make_root();
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) {
        ref child = make_child(*root);  // usually at the same address
        EXPECT_TRUE(seen.insert(node_ids::of(*child)).second);
    }
}

TEST(node_ids, OBS_104_an_ended_node_is_not_found_and_leaves_nothing) {
    const std::size_t before = node_ids::size();
    std::uint64_t id = 0;
    std::uint64_t alone = 0;
    {
        ref root = make_root();
        {
            ref child = make_child(*root, "x", roost::detail::child_kind::working);
            id = node_ids::of(*child);
            roost::detail::node* mine = child.get();
            child = ref();
            EXPECT_FALSE(mine->end_alone(0)) << "its end has to be seen by its number";
            EXPECT_TRUE(node_ids::find(id));
            mine->close_and_leave();
            EXPECT_FALSE(node_ids::find(id));
        }
        alone = node_ids::of(*root);
        EXPECT_TRUE(node_ids::find(alone));
    }
    EXPECT_FALSE(node_ids::find(alone));
    EXPECT_EQ(node_ids::size(), before);
    EXPECT_FALSE(node_ids::find(0));
    EXPECT_FALSE(node_ids::find(~std::uint64_t{0}));
}

}  // namespace
