// guard_count() while guards, children and stripes come and go: every node's share is a number it had.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::guard;
using roost::shutdown;
using roost::testing::check;

using roost::detail::shutdown_node;
shutdown_node& node_of(const shutdown& s) {
    return static_cast<shutdown_node&>(roost::detail::tree_access::core_of(s.tree_node()));
}

void enter(shutdown_node& n) {
    auto&& mine = roost::detail::guards_of_this_thread();
    n.enter_guard(mine);
}

// SHUT-5: a child's announcement is no guard, wherever it is on its way.
MODEL(guard_count_model, guard_below) {
    const shutdown root;
    const shutdown child = root.child();
    shutdown_node& n = node_of(child);
    roost::seam::thread other([&n] {
        enter(n);
        n.leave_guard();
    });
    check(root.guard_count() <= 1, "SHUT-5: there is one guard at most");
    other.join();
    check(root.guard_count() == 0, "SHUT-5: exact at rest");
}

// SHUT-5: what the word held is moved when the first child comes, and a guard that goes meanwhile goes once.
MODEL(guard_count_model, first_child_and_guards) {
    const shutdown root;
    shutdown_node& n = node_of(root);
    enter(n);
    enter(n);
    roost::seam::thread other([&n] {
        n.leave_guard();
        enter(n);
    });
    const shutdown child = root.child();
    const std::size_t seen = root.guard_count();
    check(seen == 1 || seen == 2, "SHUT-5: one is held all the time, the other comes and goes");
    other.join();
    check(root.guard_count() == 2, "SHUT-5: exact at rest");
    n.leave_guard();
    n.leave_guard();
    check(!n.has_work(), "SHUT-41: nothing is left");
}

// SHUT-5: a thread that counts while the first child comes waits for the move.
MODEL(guard_count_model, first_child_and_count) {
    const shutdown root;
    shutdown_node& n = node_of(root);
    enter(n);
    roost::seam::thread other([&root] { const shutdown child = root.child(); });
    check(root.guard_count() == 1, "SHUT-5: it is held all the time");
    other.join();
    n.leave_guard();
    check(root.guard_count() == 0, "SHUT-5: exact at rest");
}

// SHUT-5, SHUT-66: a guard that may be refused is counted in the same place.
MODEL(guard_count_model, try_guard_and_first_child) {
    const shutdown root;
    shutdown_node& n = node_of(root);
    roost::seam::thread other([&root] { const shutdown child = root.child(); });
    auto&& mine = roost::detail::guards_of_this_thread();
    check(n.try_enter_guard(mine), "SHUT-66: not stopped");
    other.join();
    check(root.guard_count() == 1, "SHUT-5: exact at rest");
    n.leave_guard();
    check(root.guard_count() == 0 && !n.has_work(), "SHUT-5: exact at rest");
}

// SHUT-5: a node becomes striped while its guards come and go and another thread counts.
MODEL(guard_count_model, striped_meanwhile) {
    const shutdown root;
    shutdown_node& n = node_of(root);
    enter(n);
    roost::seam::thread other([&n] { n.stripe(); });
    enter(n);
    const std::size_t seen = root.guard_count();
    check(seen == 2, "SHUT-5: both are held");
    n.leave_guard();
    other.join();
    check(root.guard_count() == 1, "SHUT-5: exact at rest");
    n.leave_guard();
    n.settle();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

// SHUT-5: two threads take and drop guards of a node that has a child.
MODEL(guard_count_model, two_threads_beside_a_child) {
    const shutdown root;
    const shutdown child = root.child();
    shutdown_node& n = node_of(root);
    enter(n);
    roost::seam::thread other([&n] {
        enter(n);
        n.leave_guard();
    });
    enter(n);
    n.leave_guard();
    other.join();
    check(root.guard_count() == 1, "SHUT-5: exact at rest");
    n.leave_guard();
    check(root.guard_count() == 0, "SHUT-5: exact at rest");
}

// SHUT-5, SHUT-75: the stripes give their guards back to the node while a thread that has not seen them yet takes one.
MODEL(guard_count_model, guard_and_collapse) {
    const shutdown root;
    shutdown_node& n = node_of(root);
    roost::seam::thread other([&n] { enter(n); });
    n.stripe();
    enter(n);
    n.settle();
    other.join();
    check(root.guard_count() == 2, "SHUT-5: exact at rest");
    n.leave_guard();
    n.leave_guard();
    check(root.guard_count() == 0 && !n.has_work(), "SHUT-75: nothing is left");
}

}  // namespace
