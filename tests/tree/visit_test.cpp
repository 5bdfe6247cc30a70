#include <roost/tree/visit.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::observe::node_description;
using namespace tree_support;

TEST(visit, TREE_52_every_live_node_parents_first) {
    ref root = make_root("service");
    ref a = make_child(*root, "a"), b = make_child(*a, "b"), c = make_child(*root, "c", roost::detail::child_kind::working);
    std::vector<std::string> lines;
    const auto r = roost::observe::visit(*root, 100, [&](const node_description& d) noexcept {
        lines.push_back(std::to_string(d.depth) + std::string(d.name) + std::to_string(d.units));
    });
    EXPECT_EQ(lines, (std::vector<std::string>{"0service1", "1a0", "2b0", "1c1"}));
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(r.visited, 4U);
    c->leave();
}

TEST(visit, TREE_52_the_budget_holds) {
    ref root = make_root();
    std::vector<ref> children;
    for (int i = 0; i < 10; ++i) {
        children.push_back(make_child(*root));
    }
    for (const std::size_t budget : {0U, 1U, 5U, 10U}) {
        std::size_t seen = 0;
        const auto r = roost::observe::visit(*root, budget, [&](const node_description&) noexcept { ++seen; });
        EXPECT_EQ(seen, budget);
        EXPECT_FALSE(r.complete);
    }
    EXPECT_TRUE(roost::observe::visit(*root, 11, [](const node_description&) noexcept {}).complete);
}

TEST(visit, TREE_52_the_visitor_may_change_the_tree) {
    ref root = make_root();
    std::vector<ref> children;
    for (int i = 0; i < 10; ++i) {
        children.push_back(make_child(*root));
    }
    std::size_t seen = 0;
    roost::observe::visit(*root, 100, [&](const node_description&) noexcept {
        ++seen;
        children.clear();
        root->cancel();
    });
    EXPECT_EQ(seen, 1U);
    EXPECT_FALSE(root->has_members());
}

TEST(visit, TREE_52_text) {
    ref root = make_root("service");
    ref a = make_child(*root, "request 7", roost::detail::child_kind::working);
    ASSERT_TRUE(a->enter_ignore());
    root->cancel();
    a->close();
    const std::string text = roost::observe::tree_to_string(*root);
    EXPECT_NE(text.find("probe 'service'"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  probe 'request 7' "), std::string::npos) << text;
    EXPECT_NE(text.find("tree_support.hpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("running, cancel held up ("), std::string::npos) << text;
    EXPECT_NE(text.find(", closing, units 1\n"), std::string::npos) << text;
    a->leave_ignore();
    a->leave();
    ref many = make_child(*root);
    EXPECT_NE(roost::observe::tree_to_string(*root, 1).find("... more"), std::string::npos);
}

}  // namespace
