#include <roost/sync/detail/wait_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>

namespace {

using roost::claim;
using roost::waiter;
using roost::detail::wait_list;
using roost::detail::wake_chain;

static_assert(sizeof(wait_list) <= 24);
static_assert(!std::is_copy_constructible_v<wait_list> && !std::is_aggregate_v<wait_list>);

TEST(wait_list, SYNC_17_keeps_order_and_unlinks_from_the_middle) {
    std::array<waiter, 6> nodes;
    wait_list list;
    std::deque<waiter*> expected;
    list.lock();
    unsigned seed = 7;
    for (int i = 0; i < 500; ++i) {
        seed = seed * 1664525U + 1013904223U;
        waiter& w = nodes[(seed >> 16U) % nodes.size()];
        if (list.contains(w)) {
            list.take(w, claim::cancelled);
            EXPECT_EQ(w.finish(), claim::cancelled);
            std::erase(expected, &w);
        } else {
            list.push_back(w);
            expected.push_back(&w);
        }
        ASSERT_EQ(list.size_approx(), expected.size());
        ASSERT_EQ(list.front(), expected.empty() ? nullptr : expected.front());
    }
    while (!list.is_empty()) {
        EXPECT_EQ(list.front(), expected.front());
        expected.pop_front();
        list.take(*list.front(), claim::delivered);
    }
    list.unlock();
    EXPECT_TRUE(list.is_idle());
}

TEST(wait_list, SYNC_5_taken_waiters_are_out_of_reach_before_they_are_delivered) {
    waiter a;
    waiter b;
    wait_list list;
    list.lock();
    list.push_back(a);
    list.push_back(b);
    wake_chain taken = list.take_all();
    EXPECT_FALSE(list.contains(a)) << "the generation has moved on";
    EXPECT_FALSE(list.take_if_queued(b, claim::cancelled));
    EXPECT_EQ(b.state(), claim::waiting) << "nobody has touched it yet";
    list.unlock();
    int runs = 0;
    const auto target = roost::resume_target(
        &runs, +[](roost::work& w) noexcept { ++*static_cast<int*>(static_cast<waiter&>(w).frame()); }, {});
    a.bind(target);
    b.bind(target);
    taken.deliver("");
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(a.finish(), claim::released);
    EXPECT_EQ(b.finish(), claim::released);
    EXPECT_TRUE(list.is_quiet());
}

TEST(wait_list_death, SYNC_18_waiter_in_two_lists) {
    EXPECT_DEATH(
        {
            waiter a;
            wait_list one;
            wait_list two;
            one.push_back(a);
            two.push_back(a);
        },
        "a waiter is in at most one list");
}

}  // namespace
