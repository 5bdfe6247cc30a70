// Nodes that count per thread.

#include <roost/shutdown/shutdown.hpp>
#include <roost/tree/lease.hpp>

#include <gtest/gtest.h>

#include "without_membarrier.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;

bool is_striped(const shutdown& s) {
    return static_cast<roost::detail::shutdown_node&>(roost::detail::tree_access::core_of(s.tree_node())).is_striped();
}

TEST(striping, SHUT_75_counts_the_same) {
    const shutdown root;
    const shutdown s = root.child();
    guard before = s.guard();
    s.expect_contention();
    if (!roost::seam::has_heavy_barrier()) {
        GTEST_SKIP() << "no membarrier here";
    }
    EXPECT_TRUE(is_striped(s));
    EXPECT_EQ(root.guard_count(), 1U);
    guard during = s.guard();
    EXPECT_EQ(root.guard_count(), 2U);
    EXPECT_EQ(s.report().total(), 2U);
    before.reset();
    EXPECT_EQ(s.guard_count(), 1U);
    auto done = root.shut_down();
    EXPECT_FALSE(is_striped(s));
    EXPECT_EQ(root.guard_count(), 1U);
    EXPECT_EQ(root.state(), shutdown_state::shutting_down);
    EXPECT_EQ(root.report().total(), 1U);
    during.reset();
    EXPECT_TRUE(done.is_resolved());
    EXPECT_FALSE(s.try_guard().has_value());
}

TEST(striping, SHUT_115_a_unit_that_is_no_guard_is_listed_once_the_guards_are_gone) {
    const shutdown s("server");
    auto& core = roost::detail::tree_access::core_of(s.tree_node());
    roost::ext::lease held;
    {
        const guard g = s.guard();
        held = roost::ext::lease::try_take(core);
        EXPECT_TRUE(held);
        EXPECT_EQ(s.guard_count(), 1U);
    }
    auto done = s.shut_down();
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_NE(s.report().to_string().find("1 shutdown 'server'"), std::string::npos) << s.report().to_string();
    EXPECT_FALSE(done.is_resolved());
    held.give_back();
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_TRUE(s.report().is_empty());
    EXPECT_TRUE(done.is_resolved());
}

TEST(striping, SHUT_5_a_unit_of_a_member_is_no_guard) {
    const shutdown s("server");
    auto& core = roost::detail::tree_access::core_of(s.tree_node());
    const guard g = s.guard();
    EXPECT_TRUE(core.try_enter_as_member());
    EXPECT_EQ(s.guard_count(), 1U);
    core.leave();
    EXPECT_EQ(s.guard_count(), 1U);
}

TEST(striping, SHUT_75_without_guards_it_completes_at_once) {
    const shutdown s;
    s.expect_contention();
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_TRUE(s.report().is_empty());
    EXPECT_TRUE(s.shut_down().is_resolved());
}

TEST(striping, SHUT_75_a_dropped_child_is_gone) {
    const shutdown root;
    const auto i = [&] {
        const shutdown c = root.child();
        c.expect_contention();
        return c.interrupt(0);
    }();
    EXPECT_TRUE(i.is_stopped());
    EXPECT_EQ(root.guard_count(), 0U);
    EXPECT_TRUE(root.shut_down().is_resolved());
}

TEST(striping, SHUT_75_threads_without_a_cell_of_their_own) {
    const shutdown s;
    s.expect_contention();
    std::vector<guard> made(80);
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (std::size_t i = 0; i < made.size(); ++i) {
        threads.emplace_back([&, i] {
            made[i] = s.guard();
            ready.fetch_add(1);
            while (ready.load() < static_cast<int>(made.size())) {
                std::this_thread::yield();
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(s.guard_count(), 80U);
    made.resize(40);
    EXPECT_EQ(s.guard_count(), 40U);
    auto done = s.shut_down();
    EXPECT_EQ(s.guard_count(), 40U);
    made.clear();
    EXPECT_TRUE(done.is_resolved());
}

// A thread that ends drops its guards last of all, when its index may be another thread's already.
TEST(striping, SHUT_75_guards_dropped_while_a_thread_ends) {
    const shutdown s;
    s.expect_contention();
    for (int i = 0; i < 50; ++i) {
        std::thread t([&s] {
            thread_local guard kept;
            kept = s.guard();
        });
        t.join();
    }
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_TRUE(s.shut_down().is_resolved());
}

TEST(striping, SHUT_75_a_node_finds_out_by_itself) {
    if (!roost::seam::has_heavy_barrier()) {
        GTEST_SKIP() << "no membarrier here";
    }
    const shutdown s;
    std::atomic<int> turn{0};
    std::vector<std::thread> threads;
    for (int me = 0; me < 2; ++me) {
        threads.emplace_back([&, me] {
            for (int round = 0; round < 20; ++round) {
                while (turn.load() % 2 != me) {
                    std::this_thread::yield();
                }
                for (int i = 0; i < 64; ++i) {
                    const guard g = s.guard();
                }
                turn.fetch_add(1);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_TRUE(is_striped(s));
}

TEST(striping, SHUT_75_one_thread_makes_a_busy_root_striped_and_no_child) {
    if (!roost::seam::has_heavy_barrier()) {
        GTEST_SKIP() << "no membarrier here";
    }
    const shutdown root;
    const shutdown child = root.child();
    for (int i = 0; i < 10'000; ++i) {
        const guard g = child.guard();
    }
    EXPECT_FALSE(is_striped(child));
    EXPECT_FALSE(is_striped(root));
    for (int i = 0; i < 10'000; ++i) {
        const guard g = root.guard();
    }
    EXPECT_TRUE(is_striped(root));
    EXPECT_EQ(root.guard_count(), 0U);
    EXPECT_TRUE(root.shut_down().is_resolved());
}

#if defined(__linux__)

TEST(striping, SHUT_75_without_membarrier_it_counts_in_its_own_word) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(without_membarrier::run([] {
                    const shutdown s;
                    s.expect_contention();
                    const bool was_striped = is_striped(s);
                    guard g = s.guard();
                    const bool is_counted = s.guard_count() == 1;
                    auto done = s.shut_down();
                    const bool was_early = done.is_resolved();
                    g.reset();
                    return !was_striped && is_counted && !was_early && done.is_resolved();
                }),
                without_membarrier::is_fine, "");
}

#endif

}  // namespace
