#include <roost/sync/detail/wait_list.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

namespace {

using roost::detail::wait_list;
using roost::detail::wake_chain;
using roost::ext::claim;
using roost::ext::waiter;

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
    const auto target = roost::ext::resume_target(
        &runs, +[](roost::ext::work& w) noexcept { ++*static_cast<int*>(static_cast<waiter&>(w).frame()); }, {});
    a.bind(target);
    b.bind(target);
    taken.deliver("");
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(a.finish(), claim::released);
    EXPECT_EQ(b.finish(), claim::released);
    EXPECT_TRUE(list.is_quiet());
}

// Takes chains; keeps what it is given, or refuses it.
class chain_executor final : public roost::executor {
public:
    chain_executor() noexcept : executor(chains_t{}) {}
    bool post(roost::ext::work& w) noexcept override {
        ++single;
        return !is_closed && (queue.push(w), true);
    }
    void post_all(roost::ext::work_list& all) noexcept override {
        ++chains;
        if (!is_closed) {
            queue.append(all);
        }
    }
    int run_all() {
        int ran = 0;
        for (; roost::ext::work* w = queue.pop(); ++ran) {
            w->run();
        }
        return ran;
    }

    roost::ext::work_list queue;
    int single = 0;
    int chains = 0;
    bool is_closed = false;
};

// Queues the waiters, each bound to its executor, and takes them all.
template <std::size_t N>
wake_chain take_bound(std::array<waiter, N>& nodes, const std::array<roost::executor_ref, N>& where,
                      std::vector<int>& order) {
    wait_list list;
    list.lock();
    for (std::size_t i = 0; i < N; ++i) {
        nodes[i].bind(roost::ext::resume_target(
            &order,
            +[](roost::ext::work& w) noexcept {
                auto& self = static_cast<waiter&>(w);
                static_cast<std::vector<int>*>(self.frame())->push_back(static_cast<int>(self.finish()));
            },
            where[i]));
        list.push_back(nodes[i]);
    }
    wake_chain taken = list.take_all();
    list.unlock();
    return taken;
}

TEST(wait_list, SYNC_7_neighbours_with_one_executor_are_posted_as_one_chain) {
    chain_executor together;
    sync_testing::hand_executor apart;
    std::array<waiter, 6> nodes;
    std::vector<int> ran;
    take_bound<6>(nodes, {together, together, apart, apart, together, {}}, ran).deliver("");
    EXPECT_EQ(ran.size(), 1U) << "the one without an executor ran here";
    EXPECT_EQ(together.chains, 2);
    EXPECT_EQ(together.single, 0);
    EXPECT_EQ(together.run_all(), 3);
    EXPECT_EQ(apart.run(), 2);
    EXPECT_EQ(ran, std::vector<int>(6, static_cast<int>(claim::released)));
}

TEST(wait_list, SYNC_7_a_refused_chain_goes_to_the_fallback) {
    chain_executor closed;
    closed.is_closed = true;
    sync_testing::hand_executor rescue;
    const roost::executor_ref before = roost::ext::set_fallback_executor(rescue);
    std::array<waiter, 3> nodes;
    std::vector<int> ran;
    take_bound<3>(nodes, {closed, closed, closed}, ran).deliver("");
    EXPECT_EQ(rescue.run(), 3);
    EXPECT_EQ(ran.size(), 3U);
    roost::ext::set_fallback_executor(before);
}

#if ROOST_CHECKED
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
#endif

}  // namespace
