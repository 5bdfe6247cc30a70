#include <roost/base/detail/intrusive_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <vector>

static_assert(!std::is_copy_constructible_v<roost::detail::intrusive_list<roost::detail::list_hook>>);
static_assert(sizeof(roost::detail::intrusive_list<roost::detail::list_hook>) == sizeof(void*));

namespace {

struct item : roost::detail::list_hook {
    int value = 0;
};

using list = roost::detail::intrusive_list<item>;

std::vector<int> values(const list& l) {
    std::vector<int> out;
    for (const item* i = l.front(); i != nullptr; i = l.next_of(*i)) {
        out.push_back(i->value);
    }
    return out;
}

void drain(list& l) {
    while (l.pop_front() != nullptr) {}
}

TEST(intrusive_list, BASE_13_keeps_order_and_unlinks_from_the_middle) {
    std::array<item, 4> items;
    list l;
    for (int i = 0; i < 4; ++i) {
        items[static_cast<std::size_t>(i)].value = i;
        l.push_back(items[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(values(l), (std::vector<int>{0, 1, 2, 3}));
    l.erase(items[2]);
    EXPECT_FALSE(items[2].is_linked());
    EXPECT_EQ(values(l), (std::vector<int>{0, 1, 3}));
    l.erase(items[0]);
    l.push_front(items[2]);
    EXPECT_EQ(values(l), (std::vector<int>{2, 1, 3}));
    EXPECT_EQ(l.back()->value, 3);
    drain(l);
    EXPECT_TRUE(l.is_empty());
    EXPECT_EQ(l.back(), nullptr);
    EXPECT_EQ(l.pop_front(), nullptr);
}

TEST(intrusive_list, BASE_13_splices_in_order) {
    std::array<item, 4> items;
    list a;
    list b;
    for (int i = 0; i < 4; ++i) {
        items[static_cast<std::size_t>(i)].value = i;
        (i < 2 ? a : b).push_back(items[static_cast<std::size_t>(i)]);
    }
    list empty;
    a.splice_back(empty);
    a.splice_back(b);
    EXPECT_TRUE(b.is_empty());
    EXPECT_EQ(values(a), (std::vector<int>{0, 1, 2, 3}));
    empty.splice_back(a);
    EXPECT_EQ(values(empty), (std::vector<int>{0, 1, 2, 3}));
    drain(empty);
}

TEST(intrusive_list, BASE_13_agrees_with_a_deque_on_random_operations) {
    std::mt19937 random(20261116);
    std::array<item, 16> items;
    for (int i = 0; i < 16; ++i) {
        items[static_cast<std::size_t>(i)].value = i;
    }
    list l;
    std::deque<int> expected;
    for (int round = 0; round < 20'000; ++round) {
        item& chosen = items[random() % items.size()];
        if (chosen.is_linked()) {
            l.erase(chosen);
            std::erase(expected, chosen.value);
        } else if (random() % 2 == 0) {
            l.push_back(chosen);
            expected.push_back(chosen.value);
        } else {
            l.push_front(chosen);
            expected.push_front(chosen.value);
        }
        ASSERT_EQ(values(l), std::vector<int>(expected.begin(), expected.end()));
    }
    drain(l);
}

#if ROOST_CHECKED
TEST(intrusive_list, BASE_14_misuse_is_named) {
    const auto twice = [] {
        item i;
        list l;
        l.push_back(i);
        l.push_back(i);
    };
    EXPECT_DEATH(twice(), "at most one list");
    const auto leak = [] {
        item i;
        list l;
        l.push_back(i);
    };
    EXPECT_DEATH(leak(), "destroyed with elements");
}
#endif

}  // namespace
