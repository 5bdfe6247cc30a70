// Three at once: a node becomes striped, it is stopped, and a guard is made or dropped.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::shutdown;
using roost::detail::shutdown_node;
using roost::testing::check;

shutdown_node& node_of(const shutdown& s) {
    return static_cast<shutdown_node&>(roost::detail::tree_access::core_of(s.tree_node()));
}

void enter_guard(shutdown_node& n) {
    auto&& mine = roost::detail::guards_of_this_thread();
    n.enter_guard(mine);
}

// What a stop from above does to the stripes and nothing else of it: it sets the level in passing, and closes them when it is told.
void level_arrives(shutdown_node& n) {
    using namespace roost::detail;
    const level_word before =
        roost::detail::node_access::level_of(n).fetch_or(raised_bit(roost::level::stop), roost::seam::mo::seq_cst);
    if ((before & unobserved_bit) == 0) {
        n.settle();
    }
}

// SHUT-75, SHUT-71: wherever the guard was counted, it is there until it goes.
MODEL(striping_stop_model, guard_made) {
    const shutdown root;
    const shutdown s = root.child();
    shutdown_node& n = node_of(s);
    roost::seam::thread striper([&n] { n.stripe(); });
    roost::seam::thread stopper([&n] { level_arrives(n); });
    enter_guard(n);
    check(!n.is_complete(), "SHUT-71: a guard that was made counts");
    striper.join();
    stopper.join();
    check(n.has_work() && !n.is_striped(), "SHUT-75: it is in the node's own word");
    n.leave_guard();
    check(n.is_complete(), "SHUT-75: nothing is left");
}

// SHUT-75, SHUT-72: a thread that sees the end sees what the guarded work did.
TEST(striping_stop_model, guard_dropped) {
    EXPECT_EXPLORED({.seconds = 20}, [] {  // it takes two on an idle machine
        const shutdown root;
        const shutdown s = root.child();
        shutdown_node& n = node_of(s);
        roost::seam::plain<int> work{0};
        enter_guard(n);
        roost::seam::thread striper([&n] { n.stripe(); });
        roost::seam::thread stopper([&] {
            level_arrives(n);
            if (n.is_complete()) {
                check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
            }
        });
        work.set(1);
        n.leave_guard();
        striper.join();
        stopper.join();
        check(n.is_complete() && !n.is_striped(), "SHUT-75: nothing is left");
    });
}

// SHUT-75: the whole of it, with the calls that users make. Too much for every interleaving: all with at most one preemption.
TEST(striping_stop_model, guard_and_shut_down) {
    EXPECT_EXPLORED({.preemption_bound = 1}, [] {
        const shutdown s;
        roost::seam::thread striper([&s] { s.expect_contention(); });
        roost::seam::thread stopper([&s] { s.shut_down(); });
        shutdown_node& n = node_of(s);
        enter_guard(n);
        check(s.state() != roost::shutdown_state::complete, "SHUT-71: a guard that was made is seen by the state");
        n.leave_guard();
        striper.join();
        stopper.join();
        check(s.state() == roost::shutdown_state::complete, "SHUT-31: with every guard dropped it completes");
    });
}

}  // namespace
