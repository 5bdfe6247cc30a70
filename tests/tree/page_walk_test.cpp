#include <roost/tree/detail/page_walk.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using roost::detail::walk_page;
using roost::detail::walk_position;
using roost::observe::node_description;
using namespace tree_support;

class pages {
public:
    explicit pages(ref root) : root_(std::move(root)) {}

    // Returns the names of the next page of at most n nodes.
    std::vector<std::string> next(std::size_t n) {
        names_.clear();
        left_ = n;
        is_end_ = walk_page(*root_, at_, this, [](void* me, const node_description& d, std::uint64_t id) noexcept {
            auto& mine = *static_cast<pages*>(me);
            mine.names_.push_back(std::string(d.depth, '-') + std::string(d.name));
            ++mine.times[id];
            return --mine.left_ > 0;
        });
        return names_;
    }
    [[nodiscard]] bool is_end() const { return is_end_; }
    std::map<std::uint64_t, int> times;

private:
    ref root_;
    walk_position at_;
    std::vector<std::string> names_;
    std::size_t left_ = 0;
    bool is_end_ = false;
};

using lines = std::vector<std::string>;

TEST(page_walk, OBS_105_pages_continue_where_the_last_one_ended) {
    ref root = make_root("r");
    ref a = make_child(*root, "a"), b = make_child(*a, "b"), c = make_child(*b, "c"), d = make_child(*root, "d");
    for (std::size_t size = 1; size <= 6; ++size) {
        pages p(root);
        lines all;
        for (int i = 0; i < 10 && !p.is_end(); ++i) {
            const lines page = p.next(size);
            all.insert(all.end(), page.begin(), page.end());
        }
        EXPECT_EQ(all, (lines{"r", "-a", "--b", "---c", "-d"})) << size;
        EXPECT_TRUE(p.is_end()) << size;
    }
}

TEST(page_walk, OBS_105_a_page_begins_behind_an_older_node_if_the_last_one_has_ended) {
    ref root = make_root("r");
    std::vector<ref> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(make_child(*root, std::to_string(i)));
    }
    pages p(root);
    EXPECT_EQ(p.next(4), (lines{"r", "-0", "-1", "-2"}));
    all[2] = ref();
    EXPECT_EQ(p.next(1), (lines{"-3"}));
    all[3] = ref();
    all[1] = ref();
    EXPECT_EQ(p.next(9), (lines{"-4", "-5"}));
    EXPECT_TRUE(p.is_end());
}

TEST(page_walk, OBS_105_a_page_goes_on_above_a_branch_that_has_ended) {
    ref root = make_root("r");
    ref a = make_child(*root, "a"), b = make_child(*root, "b"), bb = make_child(*b, "bb"), c = make_child(*root, "c");
    pages p(root);
    EXPECT_EQ(p.next(4), (lines{"r", "-a", "-b", "--bb"}));
    bb = ref();
    b = ref();
    EXPECT_EQ(p.next(9), (lines{"-c"}));
    EXPECT_TRUE(p.is_end());
}

TEST(page_walk, OBS_105_a_list_whose_remembered_nodes_have_ended_begins_again) {
    ref root = make_root("r");
    ref a = make_child(*root, "a");
    pages p(root);
    EXPECT_EQ(p.next(2), (lines{"r", "-a"}));
    ref b = make_child(*root, "b");
    a = ref();
    EXPECT_EQ(p.next(9), (lines{"-b"}));
    EXPECT_TRUE(p.is_end());
}

// Children come and go between the pages, the old ones stay: each of those is visited, and the walk ends.
TEST(page_walk, OBS_105_what_stays_is_visited_whatever_comes_and_goes) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        ref root = make_root("r");
        std::vector<ref> stays;
        std::vector<ref> passes;
        for (int i = 0; i < 200; ++i) {
            (random() % 3 == 0 ? stays : passes).push_back(make_child(*root, "x"));
        }
        pages p(root);
        int count = 0;
        for (; !p.is_end() && count < 1000; ++count) {
            static_cast<void>(p.next(7));
            for (int i = 0; i < 5 && !passes.empty(); ++i) {
                passes.erase(passes.begin() + static_cast<std::ptrdiff_t>(random() % passes.size()));
            }
            passes.push_back(make_child(*root, "new"));
        }
        EXPECT_TRUE(p.is_end());
        EXPECT_LT(count, 200);
        for (const ref& s : stays) {
            EXPECT_GE(p.times[roost::detail::node_ids::of(*s)], 1);
        }
    }
}

TEST(page_walk, OBS_105_an_empty_handle_is_an_empty_walk) {
    walk_position at;
    EXPECT_TRUE(
        walk_page(roost::node(), at, nullptr, [](void*, const node_description&, std::uint64_t) noexcept { return true; }));
}

TEST(page_walk, OBS_105_a_position_remembers_the_last_and_fewer_before) {
    walk_position at;
    at.visited(0, 1);
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        at.visited(1, i);
    }
    const std::vector<std::uint64_t>& seen = at.levels()[1].seen;
    EXPECT_LE(seen.size(), walk_position::most_remembered);
    EXPECT_EQ(seen.front(), 1U);
    for (std::size_t i = 0; i < walk_position::most_recent; ++i) {
        EXPECT_EQ(seen[seen.size() - 1 - i], 1000 - i);
    }
}

}  // namespace
