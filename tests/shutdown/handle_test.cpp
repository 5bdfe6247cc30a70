// Handles, guards, state: one thread.

#include <roost/shutdown/shutdown.hpp>
#include <roost/tree/lease.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;

TEST(shutdown, SHUT_1_starts_running_without_guards) {
    const shutdown s;
    EXPECT_EQ(s.state(), shutdown_state::running);
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_TRUE(s.report().is_empty());
}

TEST(shutdown, SHUT_2_copies_name_the_same_node) {
    const shutdown s;
    const shutdown copy = s;
    EXPECT_EQ(s, copy);
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_NE(s, s.child());
    EXPECT_NE(s, shutdown());
    static_cast<void>(copy.shut_down());
    EXPECT_EQ(s.state(), shutdown_state::complete);
}

TEST(shutdown, SHUT_3_shut_down_is_idempotent_and_latches) {
    const shutdown s;
    s.shut_down();
    s.shut_down().wait_blocking();
    EXPECT_EQ(s.state(), shutdown_state::complete);
    EXPECT_TRUE(s.shut_down().is_resolved());
}

TEST(shutdown, SHUT_4_states_have_predicates) {
    const shutdown s;
    EXPECT_TRUE(s.state() == shutdown_state::running);
    guard g = s.guard();
    s.shut_down();
    EXPECT_TRUE(s.state() == shutdown_state::shutting_down);
    g.reset();
    EXPECT_TRUE(s.state() == shutdown_state::complete);
}

TEST(shutdown, SHUT_5_counts_the_subtree) {
    const shutdown s;
    const shutdown a = s.child();
    const shutdown b = a.child();
    const guard one = s.guard();
    const guard two = a.guard();
    const guard three = b.guard();
    EXPECT_EQ(b.guard_count(), 1U);
    EXPECT_EQ(a.guard_count(), 2U);
    EXPECT_EQ(s.guard_count(), 3U);
}

TEST(shutdown, SHUT_8_deep_children_have_the_whole_contract) {
    const shutdown s;
    const shutdown deep = s.child().child().child();
    EXPECT_EQ(deep.state(), shutdown_state::running);
    const guard g = deep.guard();
    EXPECT_EQ(s.guard_count(), 1U);
    deep.shut_down();
    EXPECT_EQ(deep.state(), shutdown_state::shutting_down);
    EXPECT_EQ(s.state(), shutdown_state::running);
}

TEST(shutdown, SHUT_9_shutting_down_resolves_with_the_latch) {
    const shutdown s;
    const shutdown c = s.child();
    const guard g = c.guard();
    const auto notice = c.shutting_down();
    EXPECT_FALSE(notice.is_resolved());
    EXPECT_FALSE(notice.wait_blocking(roost::now()));
    s.shut_down();
    EXPECT_TRUE(notice.is_resolved());
    notice.wait_blocking();
    EXPECT_EQ(c.state(), shutdown_state::shutting_down);
}

TEST(shutdown, SHUT_9_shutting_down_of_a_dropped_root) {
    auto s = std::make_unique<shutdown>();
    const auto notice = s->shutting_down();
    s.reset();
    EXPECT_TRUE(notice.is_resolved());
}

TEST(guard, SHUT_11_copies_count_and_moves_do_not) {
    const shutdown s;
    guard a = s.guard();
    guard b = a;
    EXPECT_EQ(s.guard_count(), 2U);
    guard c = std::move(a);
    EXPECT_EQ(s.guard_count(), 2U);
    EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that is the question
    b = std::move(c);
    EXPECT_EQ(s.guard_count(), 1U);
    b.reset();
    EXPECT_EQ(s.guard_count(), 0U);
}

TEST(guard, SHUT_12_equal_means_same_node) {
    const shutdown s;
    const shutdown c = s.child();
    EXPECT_EQ(s.guard(), s.guard());
    EXPECT_FALSE(s.guard() == c.guard());
}

TEST(guard, SHUT_13_late_guards_count_and_delay_what_is_unresolved) {
    const shutdown s;
    auto resolved = s.shut_down();
    EXPECT_TRUE(resolved.is_resolved());
    guard late = s.guard();
    EXPECT_EQ(s.state(), shutdown_state::shutting_down);
    EXPECT_TRUE(resolved.is_resolved());
    auto pending = s.completion();
    EXPECT_FALSE(pending.is_resolved());
    EXPECT_FALSE(pending.wait_blocking(roost::now()));
    late.reset();
    EXPECT_TRUE(pending.is_resolved());
    EXPECT_EQ(s.state(), shutdown_state::complete);
}

TEST(guard, SHUT_66_try_guard_refuses_from_stop_on) {
    const shutdown s;
    {
        const auto g = s.try_guard();
        ASSERT_TRUE(g.has_value());
        EXPECT_EQ(s.guard_count(), 1U);
    }
    s.shut_down();
    EXPECT_FALSE(s.try_guard().has_value());
    EXPECT_FALSE(s.child().try_guard().has_value());
    EXPECT_EQ(s.guard_count(), 0U);
}

TEST(guard, SHUT_66_try_guard_refuses_below_a_closed_node) {
    const shutdown s;
    const shutdown child = s.child();
    EXPECT_TRUE(roost::detail::tree_access::core_of(s.tree_node()).close());
    EXPECT_FALSE(s.try_guard().has_value());
    EXPECT_FALSE(child.try_guard().has_value());
    EXPECT_EQ(s.guard_count(), 0U);
    EXPECT_EQ(s.state(), shutdown_state::running) << "closed is not stopped";
}

TEST(shutdown, SHUT_27_a_guard_decides_which_way_it_goes) {
    const shutdown direct;
    direct.shut_down();
    EXPECT_EQ(direct.state(), shutdown_state::complete);
    const shutdown slow;
    const guard g = slow.guard();
    slow.shut_down();
    EXPECT_EQ(slow.state(), shutdown_state::shutting_down);
}

TEST(shutdown, SHUT_33_guards_do_not_delay_the_signal) {
    const shutdown s;
    const shutdown c = s.child();
    const guard g = s.guard();
    const guard h = c.guard();
    s.shut_down();
    EXPECT_NE(c.state(), shutdown_state::running);
}

// --- hierarchy ---------------------------------------------------------------------------------------------------------

TEST(hierarchy, SHUT_35_36_children_change_nothing_above) {
    const shutdown s;
    auto before = s.completion();
    {
        const shutdown c = s.child();
        EXPECT_EQ(s.state(), shutdown_state::running);
        EXPECT_EQ(s.guard_count(), 0U);
    }
    EXPECT_EQ(s.state(), shutdown_state::running);
    EXPECT_FALSE(before.is_resolved());
    s.shut_down();
    EXPECT_TRUE(before.is_resolved());
}

TEST(hierarchy, SHUT_37_an_idle_child_delays_no_completion) {
    const shutdown s;
    const shutdown c = s.child();
    EXPECT_TRUE(s.shut_down().is_resolved());
    EXPECT_EQ(c.state(), shutdown_state::complete);
}

TEST(hierarchy, SHUT_84_descendants_keep_their_ancestors_counting_and_have_no_owner_above) {
    const shutdown root("root");
    auto middle = std::make_unique<shutdown>(root.child("middle"));
    auto leaf = std::make_unique<shutdown>(middle->child("leaf"));
    const auto of_middle = middle->interrupt(0);
    const auto of_leaf = leaf->interrupt(0);
    guard g = leaf->guard();
    middle.reset();
    leaf.reset();
    EXPECT_FALSE(of_leaf.is_stopped());
    EXPECT_FALSE(of_middle.is_stopped()) << "kept by the one below";
    EXPECT_EQ(root.guard_count(), 1U) << "through a node without handles";
    g.reset();
    EXPECT_EQ(root.guard_count(), 0U);
    EXPECT_TRUE(of_leaf.is_stopped()) << "the root alone keeps nobody";
    EXPECT_TRUE(of_middle.is_stopped());
    EXPECT_TRUE(root.state() == shutdown_state::running);
}

TEST(hierarchy, SHUT_38_45_a_guard_outlives_its_childs_handle) {
    const shutdown s;
    guard g = s.child("gone").guard();
    EXPECT_EQ(s.guard_count(), 1U);
    auto done = s.shut_down();
    EXPECT_FALSE(done.is_resolved());
    g.reset();
    EXPECT_TRUE(done.is_resolved());
    EXPECT_EQ(s.guard_count(), 0U);
}

TEST(hierarchy, SHUT_39_stop_goes_down_only) {
    const shutdown s;
    const shutdown a = s.child();
    const shutdown b = s.child();
    const shutdown below = a.child().child();
    a.shut_down();
    EXPECT_EQ(s.state(), shutdown_state::running);
    EXPECT_EQ(b.state(), shutdown_state::running);
    EXPECT_EQ(below.state(), shutdown_state::complete);
    s.shut_down();
    EXPECT_EQ(b.state(), shutdown_state::complete);
}

TEST(hierarchy, SHUT_41_the_parent_reflects_descendants) {
    const shutdown s;
    guard g = s.child().child().guard();
    s.shut_down();
    EXPECT_EQ(s.state(), shutdown_state::shutting_down);
    g.reset();
    EXPECT_EQ(s.state(), shutdown_state::complete);
}

TEST(hierarchy, SHUT_43_dropping_the_last_root_handle_stops) {
    auto s = std::make_unique<shutdown>();
    const shutdown c = s->child();
    const shutdown below = c.child();
    auto copy = std::make_unique<shutdown>(*s);
    s.reset();
    EXPECT_EQ(c.state(), shutdown_state::running);
    copy.reset();
    EXPECT_EQ(c.state(), shutdown_state::complete);
    EXPECT_EQ(below.state(), shutdown_state::complete);
    EXPECT_EQ(c.observe().reason().kind(), roost::reason_kind::dropped);
}

TEST(hierarchy, SHUT_43_a_completion_is_no_handle) {
    auto s = std::make_unique<shutdown>();
    guard g = s->guard();
    auto done = s->completion();
    s.reset();
    EXPECT_FALSE(done.is_resolved());
    g.reset();
    EXPECT_TRUE(done.is_resolved());
}

TEST(hierarchy, SHUT_44_dropping_the_last_child_handle_asks_nothing) {
    const shutdown s;
    auto c = std::make_unique<shutdown>(s.child());
    const shutdown below = c->child();
    guard g = c->guard();
    c.reset();
    EXPECT_EQ(below.state(), shutdown_state::running);
    EXPECT_EQ(s.guard_count(), 1U);
}

TEST(hierarchy, SHUT_48_a_child_of_a_stopped_node_is_born_stopped) {
    const shutdown s;
    s.shut_down();
    const shutdown c = s.child();
    EXPECT_EQ(c.state(), shutdown_state::complete);
    EXPECT_TRUE(c.shutting_down().is_resolved());
    guard g = c.guard();
    auto done = c.completion();
    auto above = s.completion();
    EXPECT_FALSE(done.is_resolved());
    EXPECT_FALSE(above.is_resolved());
    g.reset();
    EXPECT_TRUE(done.is_resolved());
    EXPECT_TRUE(above.is_resolved());
}

TEST(hierarchy, SHUT_49_children_made_during_stop_are_stopped) {
    for (int i = 0; i < 200; ++i) {
        const shutdown s;
        shutdown made;
        std::thread maker([&] { made = s.child(); });
        s.shut_down();
        maker.join();
        EXPECT_EQ(made.state(), shutdown_state::complete);
    }
}

TEST(hierarchy, SHUT_73_the_subtree_is_latched_when_shut_down_returns) {
    const shutdown s;
    std::vector<shutdown> below;
    for (int i = 0; i < 1000; ++i) {
        below.push_back(i % 2 == 0 ? s.child() : below.back().child());
    }
    int before = 0;
    std::thread other([&] { s.shut_down(); });
    before = 1;
    s.shut_down();
    for (const shutdown& c : below) {
        EXPECT_EQ(c.state(), shutdown_state::complete);
    }
    other.join();
    EXPECT_EQ(before, 1);
}

TEST(shutdown, SHUT_30_a_thread_that_sees_stop_sees_what_came_before) {
    const shutdown s;
    int before = 0;
    std::thread looker([&before, notice = s.shutting_down()] {
        notice.wait_blocking();
        EXPECT_EQ(before, 1);
    });
    before = 1;
    s.shut_down();
    looker.join();
}

TEST(shutdown, SHUT_31_completes_when_every_guard_is_dropped) {
    const shutdown s;
    std::vector<guard> held(10, s.child().guard());
    auto done = s.shut_down();
    while (!held.empty()) {
        EXPECT_FALSE(done.is_resolved());
        held.pop_back();
    }
    EXPECT_TRUE(done.is_resolved());
}

// --- regressions -------------------------------------------------------------------------------------------------------

TEST(regression, SWB_2_late_guard_on_a_complete_child) {
    const shutdown s;
    const shutdown c = s.child("late");
    s.shut_down();
    ASSERT_EQ(c.state(), shutdown_state::complete);
    std::vector<shutdown> more;
    for (int i = 0; i < 100; ++i) {
        more.push_back(s.child());
    }
    const guard late = c.guard();
    EXPECT_EQ(s.state(), shutdown_state::shutting_down);
    EXPECT_EQ(s.guard_count(), 1U);
    EXPECT_EQ(s.report().total(), 1U);
}

TEST(regression, SWB_6_blocking_on_the_last_root_handle_ends) {
    shutdown s;
    std::move(s).wait_blocking();
    shutdown guarded_root;
    guard g = guarded_root.guard();
    std::thread dropper([g = std::move(g)]() mutable { g.reset(); });
    std::move(guarded_root).wait_blocking();
    dropper.join();
}

TEST(regression, SWB_6_with_another_handle_left_it_waits) {
    const shutdown s;
    shutdown copy = s;
    EXPECT_FALSE(std::move(copy).wait_blocking(roost::now()));
    EXPECT_EQ(s.state(), shutdown_state::running);
}

TEST(regression, SWB_7_a_hundred_thousand_levels) {
    const shutdown s;
    shutdown deepest = s.child();
    for (int i = 0; i < 100'000; ++i) {
        deepest = deepest.child();
    }
    guard g = deepest.guard();
    EXPECT_EQ(s.guard_count(), 1U);
    auto done = s.shut_down();
    EXPECT_EQ(deepest.state(), shutdown_state::shutting_down);
    EXPECT_FALSE(done.is_resolved());
    g.reset();
    EXPECT_TRUE(done.is_resolved());
    deepest = shutdown();
}

TEST(handle, SHUT_5_children_and_stripes_do_not_count) {
    const shutdown root("root");
    const guard before = root.guard();
    const shutdown child = root.child("child");
    const shutdown idle = child.child("idle");
    EXPECT_EQ(root.guard_count(), 1U);
    guard below = child.guard();
    EXPECT_EQ(root.guard_count(), 2U);
    guard copy = before;
    root.expect_contention();
    EXPECT_EQ(root.guard_count(), 3U);
    copy.reset();
    EXPECT_EQ(root.guard_count(), 2U) << "made before it was striped, dropped after";
    root.shut_down();
    EXPECT_EQ(root.guard_count(), 2U);
    below.reset();
    EXPECT_EQ(root.guard_count(), 1U);
    auto refused = root.try_guard();
    EXPECT_FALSE(refused);
    const guard late = root.guard();
    EXPECT_EQ(root.guard_count(), 2U);
}

TEST(handle, TREE_131_a_lease_is_no_guard) {
    const shutdown root("root");
    const guard g = root.guard();
    {
        const roost::ext::lease l = roost::ext::lease::try_take(root.tree_node());
        EXPECT_EQ(root.guard_count(), 1U);
        const guard second = root.guard();
        EXPECT_EQ(root.guard_count(), 2U);
    }
    EXPECT_EQ(root.guard_count(), 1U);
}

TEST(handle_death_test, SHUT_113_a_moved_from_handle_says_so) {
    EXPECT_DEATH(
        {
            shutdown s("s");
            const shutdown taken = std::move(s);
            static_cast<void>(s.guard());  // NOLINT(bugprone-use-after-move)
        },
        "shutdown: this handle was moved from");
}

}  // namespace
