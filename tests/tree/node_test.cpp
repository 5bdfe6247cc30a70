// Levels and shapes of one node and small trees. (Work: work_count_test; memory: node_life_test.)

#include <roost/tree/node.hpp>
#include <roost/tree/visit.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using roost::level;
using roost::reason;
using roost::reason_kind;
using roost::detail::admission;
using roost::detail::child_kind;
using namespace tree_support;

#if defined(ROOST_SEAM_NATIVE)
static_assert(sizeof(roost::detail::node) <= 96, "TREE-35");
#endif
static_assert(!std::is_copy_constructible_v<roost::detail::node> && !std::is_move_constructible_v<roost::detail::node>);

TEST(node, TREE_1_level_only_rises) {
    ref root = make_root();
    EXPECT_EQ(root->level_now(), level::running);
    root->cancel();
    EXPECT_EQ(root->level_now(), level::cancel);
    root->stop();
    EXPECT_EQ(root->level_now(), level::cancel);
    root->abort();
    root->cancel();
    EXPECT_EQ(root->level_now(), level::abort);
}

TEST(node, TREE_2_raise_latches_the_whole_subtree) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*root), c = make_child(*b), d = make_child(*c);
    root->stop();
    for (probe* n : {root.get(), a.get(), b.get(), c.get(), d.get()}) {
        EXPECT_EQ(n->level_now(), level::stop);
        EXPECT_EQ(n->raised_count, 1);
    }
    root->cancel();
    root->cancel();
    EXPECT_EQ(d->level_now(), level::cancel);
    EXPECT_EQ(d->raised_count, 2);
    EXPECT_EQ(d->raised_to, level::cancel);
}

TEST(node, TREE_2_a_level_reaches_nodes_that_were_raised_before) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*a);
    a->cancel();
    root->cancel();
    root->abort();
    EXPECT_EQ(b->level_now(), level::abort);
    EXPECT_EQ(a->raised_count, 2);
    EXPECT_EQ(b->raised_count, 2);
}

TEST(node, TREE_3_levels_go_down_only) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*root), c = make_child(*a);
    a->cancel();
    EXPECT_EQ(c->level_now(), level::cancel);
    EXPECT_EQ(root->level_now(), level::running);
    EXPECT_EQ(b->level_now(), level::running);
}

TEST(node, TREE_4_children_are_born_at_the_level_of_their_parent) {
    ref root = make_root();
    root->stop();
    ref stopped = make_child(*root);
    EXPECT_EQ(stopped->level_now(), level::stop);
    EXPECT_EQ(stopped->raised_count, 0);
    root->cancel();
    EXPECT_EQ(make_child(*root)->level_now(), level::cancel);
    EXPECT_EQ(make_child(*stopped)->level_now(), level::cancel);
    root->abort();
    ref working = make_child(*root, "x", child_kind::working);
    EXPECT_EQ(working->level_now(), level::abort);
    working->leave();
}

TEST(node, TREE_6_told_once_per_level_and_never_for_a_lower_one) {
    ref root = make_root();
    ref a = make_child(*root);
    root->abort();
    root->stop();
    a->cancel();
    EXPECT_EQ(a->raised_count, 1);
    EXPECT_EQ(root->raised_count, 1);
}

TEST(node, TREE_7_the_first_reason_at_a_level_stays) {
    ref root = make_root("service");
    ref a = make_child(*root, "request");
    ref b = make_child(*a, "query");
    EXPECT_FALSE(b->why(level::stop));
    a->cancel(reason(reason_kind::timeout, "slow"));
    root->cancel(reason(reason_kind::shutdown, "bye"));
    EXPECT_EQ(b->why(level::cancel).kind(), reason_kind::timeout);
    EXPECT_EQ(b->why(level::cancel).text(), "slow");
    EXPECT_EQ(b->why(level::stop).text(), "slow");
    EXPECT_EQ(b->origin(level::cancel), a.get());
    EXPECT_EQ(root->why(level::cancel).text(), "bye");
    EXPECT_EQ(b->why_with_origin(level::cancel).origin(), "request");
    EXPECT_FALSE(b->why(level::abort));
}

TEST(node, TREE_7_a_higher_level_has_its_own_reason) {
    ref root = make_root("service");
    ref a = make_child(*root);
    root->stop(reason(reason_kind::shutdown, "SIGTERM"));
    root->cancel(reason(reason_kind::timeout, "drain took too long"));
    root->abort(reason(reason_kind::requested, "third signal"));
    for (probe* n : {root.get(), a.get()}) {
        EXPECT_EQ(n->why(level::stop).text(), "SIGTERM");
        EXPECT_EQ(n->why(level::cancel).text(), "drain took too long");
        EXPECT_EQ(n->why(level::abort).text(), "third signal");
    }
    // A kind without text needs no memory at any level.
    ref other = make_root();
    other->stop(reason::plain_kind(reason_kind::dropped));
    other->cancel(reason::plain_kind(reason_kind::lost_race));
    other->abort(reason::plain_kind(reason_kind::closed));
    EXPECT_EQ(other->why(level::stop).kind(), reason_kind::dropped);
    EXPECT_EQ(other->why(level::cancel).kind(), reason_kind::lost_race);
    EXPECT_EQ(other->why(level::abort).kind(), reason_kind::closed);
}

TEST(node, TREE_10_requested_and_effective_are_two_questions) {
    ref root = make_root();
    ASSERT_TRUE(root->enter_ignore());
    root->cancel();
    EXPECT_TRUE(root->cancel_requested());
    EXPECT_FALSE(root->is_cancelled());
    EXPECT_FALSE(root->is_cancelled_relaxed());
    EXPECT_EQ(root->level_now(), level::running);
    root->leave_ignore();
    EXPECT_TRUE(root->is_cancelled());
    EXPECT_TRUE(root->is_cancelled_relaxed());
    ref stopped = make_root();
    stopped->stop();
    EXPECT_FALSE(stopped->cancel_requested());
    EXPECT_TRUE(stopped->is_stopping());
}

TEST(node, TREE_102_ignore_guards_nest_as_deep_as_one_likes) {
    constexpr int levels = 1'000;
    const auto root = make_root();
    const auto other = make_root();
    for (int i = 0; i < levels; ++i) {
        ASSERT_TRUE(root->enter_ignore());
        ASSERT_TRUE(other->enter_ignore());
    }
    root->cancel();
    for (int i = 1; i < levels; ++i) {
        root->leave_ignore();
        ASSERT_FALSE(root->is_cancelled()) << i;
    }
    root->leave_ignore();
    EXPECT_TRUE(root->is_cancelled());
    EXPECT_FALSE(root->enter_ignore());
    for (int i = 0; i < levels; ++i) {
        other->leave_ignore();
    }
    other->cancel();
    EXPECT_TRUE(other->is_cancelled());
}

TEST(node, TREE_11_ignore_is_refused_after_cancel_and_nests) {
    ref root = make_root();
    ASSERT_TRUE(root->enter_ignore());
    ASSERT_TRUE(root->enter_ignore());
    root->cancel();
    ASSERT_TRUE(root->enter_ignore());  // nested
    root->leave_ignore();
    root->leave_ignore();
    EXPECT_FALSE(root->is_cancelled());
    root->leave_ignore();
    EXPECT_TRUE(root->is_cancelled());
    EXPECT_FALSE(root->enter_ignore());
    EXPECT_TRUE(make_root()->enter_ignore());
}

TEST(node, TREE_12_stop_and_abort_pass_an_ignore_guard) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*a);
    ASSERT_TRUE(a->enter_ignore());
    root->cancel();
    EXPECT_EQ(root->level_now(), level::cancel);
    EXPECT_EQ(a->raised_count, 0);
    EXPECT_EQ(b->level_now(), level::running);
    EXPECT_EQ(make_child(*a)->level_now(), level::running);
    root->stop();
    EXPECT_EQ(a->level_now(), level::stop);
    EXPECT_EQ(b->level_now(), level::stop);
    root->abort();
    EXPECT_EQ(a->level_now(), level::abort);
    EXPECT_EQ(b->level_now(), level::abort);
    const int told = a->raised_count;
    a->leave_ignore();
    EXPECT_EQ(a->raised_count, told);
    EXPECT_TRUE(b->cancel_requested());
}

TEST(node, TREE_13_leaving_runs_the_deferred_walk_once) {
    ref root = make_root();
    ref a = make_child(*root), b = make_child(*a), c = make_child(*b);
    ASSERT_TRUE(a->enter_ignore());
    root->cancel(reason(reason_kind::shutdown, "bye"));
    EXPECT_EQ(c->raised_count, 0);
    a->leave_ignore();
    for (probe* n : {a.get(), b.get(), c.get()}) {
        EXPECT_EQ(n->level_now(), level::cancel);
        EXPECT_EQ(n->raised_count, 1);
        EXPECT_EQ(n->why(level::cancel).text(), "bye");
    }
    root->cancel();
    EXPECT_EQ(c->raised_count, 1);
}

TEST(node, TREE_14_ignoring_never_touches_the_count) {
    ref root = make_root();
    root->enter();
    root->enter();
    ASSERT_TRUE(root->enter_ignore());
    EXPECT_EQ(root->units(), 2U);
    root->leave_ignore();
    EXPECT_EQ(root->units(), 2U);
    root->leave();
    root->leave();
}

TEST(node, TREE_15_cancel_stops_in_front_of_a_shield) {
    ref root = make_root();
    ref before = make_child(*root);
    ref shield = make_shield(*root);
    ref inside = make_child(*shield);
    root->cancel();
    EXPECT_EQ(before->level_now(), level::cancel);
    EXPECT_EQ(shield->level_now(), level::running);
    EXPECT_EQ(inside->level_now(), level::running);
    EXPECT_EQ(make_shield(*root)->level_now(), level::running);  // enterable after cancel
    root->stop();
    EXPECT_EQ(inside->level_now(), level::stop);
    shield->cancel(reason(reason_kind::timeout, "budget"));
    EXPECT_EQ(inside->level_now(), level::cancel);
    EXPECT_EQ(inside->why(level::cancel).text(), "budget");
    root->abort();
    EXPECT_EQ(inside->level_now(), level::abort);
    EXPECT_EQ(make_shield(*root)->level_now(), level::abort);
}

TEST(node, TREE_53_names_are_kept_or_copied) {
    std::string dynamic = "request 17 with a name that is long enough to be allocated";
    ref root = make_root(dynamic);
    const std::string expected = dynamic;
    dynamic.assign(dynamic.size(), 'x');
    EXPECT_EQ(root->name(), expected);
    static const char literal[] = "literal";
    EXPECT_EQ(make_root(literal)->name().data(), literal);
    char buffer[16] = "buffer";
    ref b = make_child(*root, buffer);
    buffer[0] = 'B';
    EXPECT_EQ(b->name(), "buffer");
    EXPECT_TRUE(b->made_at().is_known());
    EXPECT_EQ(make_root(std::string_view())->name(), "");
}

TEST(node, TREE_53_a_copied_name_ends_at_its_first_null) {
    const std::string text("two\0words", 9);
    EXPECT_EQ(make_root(std::string_view(text))->name(), "two");
    const std::string nothing("\0word", 5);
    EXPECT_EQ(make_root(std::string_view(nothing))->name(), "");
}

TEST(node, TREE_37_gone_is_said_to_observers) {
    ref root = make_root();
    EXPECT_FALSE(root->is_gone());
    root->mark_gone();
    EXPECT_TRUE(root->is_gone());
    EXPECT_EQ(root->level_now(), level::running);
}

TEST(node, TREE_60_an_unobserved_node_is_told_once_it_observes) {
    ref root = make_root();
    ref early = make_child(*root, "early", child_kind::idle, admission::outsider, probe::loud, {.unobserved = true});
    ref late = make_child(*root, "late", child_kind::idle, admission::outsider, probe::loud, {.unobserved = true});
    ref below = make_child(*late);
    EXPECT_FALSE(early->observe_level());
    root->stop();
    EXPECT_EQ(early->raised_count, 1);
    EXPECT_EQ(late->raised_count, 0);
    EXPECT_EQ(late->level_now(), level::stop);
    EXPECT_EQ(below->raised_count, 1);
    EXPECT_TRUE(late->observe_level());
    root->cancel();
    EXPECT_EQ(late->raised_count, 1);
    EXPECT_EQ(late->raised_to, level::cancel);
}

TEST(node, TREE_60_a_level_of_its_own_is_always_told) {
    ref root = make_root("root", probe::loud, {.unobserved = true});
    root->stop();
    EXPECT_EQ(root->raised_count, 1);
}

roost::seam::atomic<bool> is_traced{false};
constexpr roost::detail::node_functions traced{
    .kind = "traced", .destroy = &probe::destroy, .level_raised = &probe::level_raised, .raises_unobserved = &is_traced};

TEST(node, TREE_60_a_tracer_is_told_of_all) {
    ref root = make_root();
    ref child = make_child(*root, "child", child_kind::idle, admission::outsider, traced, {.unobserved = true});
    root->stop();
    EXPECT_EQ(child->raised_count, 0);
    is_traced.store(true, roost::seam::mo::relaxed);
    root->cancel();
    is_traced.store(false, roost::seam::mo::relaxed);
    EXPECT_EQ(child->raised_count, 1);
}

TEST(node, TREE_130_text_of_unknown_lifetime_is_copied) {
    std::string text = "a name";
    char buffer[] = "in a buffer";
    const char* pointer = text.c_str();
    const auto by_pointer = make_root(pointer);
    const auto by_buffer = make_root(buffer);
    const auto by_literal = make_root(roost::literal("passed on"));
    text[0] = buffer[0] = 'X';
    EXPECT_EQ(by_pointer->name(), "a name");
    EXPECT_EQ(by_buffer->name(), "in a buffer");
    EXPECT_EQ(by_literal->name(), "passed on");
    EXPECT_TRUE(by_literal->has_literal_name());
    EXPECT_FALSE(by_pointer->has_literal_name());
}

TEST(node, TREE_134_a_handle_reads_and_raises) {
    ref root = make_root();
    const ref child = make_child(*root, "child");
    const roost::node up(*root);
    const roost::node down(*child);
    EXPECT_TRUE(down);
    EXPECT_EQ(down.parent(), up);
    EXPECT_FALSE(up.parent());
    EXPECT_EQ(down.name(), "child");
    EXPECT_EQ(down.site().line(), child->made_at().line());
    EXPECT_EQ(up.work(), 0U);
    up.stop();
    EXPECT_TRUE(down.stop_requested());
    EXPECT_FALSE(down.cancel_requested());
    up.cancel(reason(reason_kind::shutdown, "an example"));
    EXPECT_TRUE(down.cancel_requested());
    EXPECT_TRUE(down.is_cancelled());
    EXPECT_EQ(down.level(), level::cancel);
    EXPECT_EQ(down.reason().text(), "an example");
    down.abort();
    EXPECT_EQ(down.level(), level::abort);
    EXPECT_EQ(up.level(), level::cancel);
}

TEST(node, TREE_134_a_handle_keeps_memory_and_no_work) {
    roost::node kept;
    {
        const ref root = make_root();
        root->enter();
        kept = *root;
        EXPECT_EQ(kept.work(), 1U);
        root->leave();
    }
    EXPECT_EQ(kept.name(), "root");
    EXPECT_EQ(kept.work(), 0U);
}

TEST(node, TREE_134_a_handle_that_refers_to_nothing_is_harmless) {
    const roost::node none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none, roost::node());
    none.stop();
    none.cancel();
    none.abort();
    EXPECT_EQ(none.level(), level::running);
    EXPECT_EQ(none.reason().kind(), reason().kind());
    EXPECT_FALSE(none.stop_requested() || none.cancel_requested() || none.is_cancelled());
    EXPECT_TRUE(none.name().empty());
    EXPECT_FALSE(none.site().is_known());
    EXPECT_FALSE(none.parent());
    EXPECT_EQ(none.work(), 0U);
}

TEST(node, TREE_134_a_visitor_keeps_a_node) {
    const ref root = make_root();
    roost::node kept;
    roost::observe::visit(
        *root, 1, [&](const roost::observe::node_description& d) noexcept { kept = roost::node::try_share(*d.target); });
    EXPECT_EQ(kept, roost::node(*root));
}

TEST(node, TREE_134_a_handle_that_refers_to_nothing_is_no_parent) {
    EXPECT_DEATH(static_cast<void>(roost::detail::tree_access::core_of(roost::node())),
                 "a handle that refers to nothing was used as a node of the tree");
}

}  // namespace
