// A node becomes striped while it is stopped, given up, guarded.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>
#include <new>

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;
using roost::testing::check;

using roost::detail::shutdown_node;

void enter_guard(shutdown_node& n) {
    auto&& mine = roost::detail::guards_of_this_thread();
    n.enter_guard(mine);
}
bool try_enter_guard(shutdown_node& n) {
    auto&& mine = roost::detail::guards_of_this_thread();
    return n.try_enter_guard(mine);
}
shutdown_node& node_of(const shutdown& s) {
    return static_cast<shutdown_node&>(roost::detail::tree_access::core_of(s.tree_node()));
}

// SHUT-75: a node becomes striped while a guard is made and dropped.
MODEL(striping_model, stripe_and_guard) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { n.stripe(); });
    enter_guard(n);
    n.leave_guard();
    other.join();
    n.settle();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

// SHUT-75: the same with a guard that may be refused.
MODEL(striping_model, stripe_and_try_guard) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { n.stripe(); });
    check(try_enter_guard(n), "SHUT-14: not stopped");
    other.join();
    check(s.guard_count() == 1, "SHUT-75: counted once");
    n.leave_guard();
    n.settle();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

// SHUT-75: and while a thread counts, or moves all counts into the node's own word.
MODEL(striping_model, stripe_and_look) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { n.stripe(); });
    check(s.guard_count() == 0, "SHUT-5: stripes are no guards");
    n.settle();
    other.join();
    n.settle();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

// SHUT-75: two threads find out at the same time that it pays.
MODEL(striping_model, stripe_twice) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { n.stripe(); });
    n.stripe();
    check(n.is_striped(), "SHUT-75: by one of them");
    other.join();
    n.settle();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

// SHUT-5: the counts move from the stripes into the word while a thread counts.
MODEL(striping_model, count_while_closing) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    n.stripe();
    enter_guard(n);
    enter_guard(n);
    roost::seam::thread other([&n] { n.settle(); });
    const std::size_t count = s.guard_count();
    check(count == 2, "SHUT-5: the guards, wherever they are counted");
    other.join();
    check(s.guard_count() == 2, "SHUT-5: exact at rest");
    n.leave_guard();
    n.leave_guard();
}

// SHUT-75: one of the two sees the other, without a query of the state.
MODEL(striping_model, stripe_and_latch) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { n.stop(); });
    n.stripe();
    other.join();
    check(!n.has_work(), "SHUT-75: the stripes were closed by the stop, or by whoever made them");
}
// What a stop from above does to the stripes and nothing else of it, small enough for every interleaving: it sets the level in
// passing, and closes them when it is told.
void level_arrives(shutdown_node& n) {
    using namespace roost::detail;
    const level_word before =
        roost::detail::node_access::level_of(n).fetch_or(raised_bit(roost::level::stop), roost::seam::mo::seq_cst);
    if ((before & unobserved_bit) == 0) {
        n.settle();
    }
}
MODEL(striping_model, stripe_and_level) {
    const shutdown root;
    const shutdown s = root.child();
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { level_arrives(n); });
    n.stripe();
    other.join();
    check(!n.has_work() && !n.is_striped(), "SHUT-75: the stripes were closed by the stop, or by whoever made them");
}
MODEL(striping_model, guard_and_level) {
    const shutdown root;
    const shutdown s = root.child();
    shutdown_node& n = node_of(s);
    n.stripe();
    roost::seam::plain<int> work{0};
    enter_guard(n);
    roost::seam::thread other([&] {
        work.set(1);
        n.leave_guard();
    });
    level_arrives(n);
    if (n.is_complete()) {
        check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    }
    other.join();
    check(n.is_complete(), "SHUT-75: nothing is left");
}
// The same; a bounded search begins at the other end.
MODEL(striping_model, latch_and_stripe) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&n] { n.stripe(); });
    n.stop();
    other.join();
    check(!n.has_work(), "SHUT-75: the stripes were closed by the stop, or by whoever made them");
}

// SHUT-75: striped or not, the stop finds it, and it completes.
MODEL(striping_model, stripe_and_stop) {
    const shutdown s;
    roost::seam::thread other([&s] { s.expect_contention(); });
    s.shut_down();
    other.join();
    check(s.state() == shutdown_state::complete, "SHUT-75: a node without guards completes");
    check(s.guard_count() == 0, "SHUT-75: nothing is left");
}

// SHUT-75, SHUT-71, SHUT-72: a guard on a striped child while the root is stopped.
MODEL(striping_model, guard_and_stop) {
    const shutdown root;
    const shutdown hot = root.child();
    hot.expect_contention();
    roost::seam::plain<int> work{0};
    roost::seam::thread other([&] {
        const guard g = hot.guard();
        check(root.state() != shutdown_state::complete, "SHUT-71: a returned guard is seen by the root");
        work.set(1);
    });
    auto done = root.shut_down();
    other.join();
    check(done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-75, SHUT-71, SHUT-72: the same on the striped node itself: a guard made, and one dropped, while it is stopped.
MODEL(striping_model, make_and_latch) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    n.stripe();
    roost::seam::thread other([&n] { enter_guard(n); });
    n.stop();
    other.join();
    check(n.has_work(), "SHUT-71: a guard that was made counts");
    n.leave_guard();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

MODEL(striping_model, drop_and_latch) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    roost::seam::plain<int> work{0};
    n.stripe();
    enter_guard(n);
    roost::seam::thread other([&] {
        work.set(1);
        n.leave_guard();
    });
    n.stop();
    if (n.is_complete()) {
        check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    }
    other.join();
    check(n.is_complete(), "SHUT-75: nothing is left");
}

// SHUT-75, SHUT-46: given up instead of stopped.
MODEL(striping_model, drop_and_give_up) {
    const shutdown s;
    shutdown_node& n = node_of(s);
    n.stripe();
    enter_guard(n);
    roost::seam::thread other([&n] { n.leave_guard(); });
    n.settle();
    n.watch();
    other.join();
    check(!n.has_work(), "SHUT-75: nothing is left");
}

// SHUT-75: a guard from before is dropped by another thread while stop closes the stripes; the blocked one is woken.
MODEL(striping_model, drop_and_stop) {
    const shutdown s;
    roost::seam::plain<int> work{0};
    guard g = s.guard();
    s.expect_contention();
    roost::seam::thread other([&work, &g] {
        work.set(1);
        g.reset();
    });
    s.shut_down().wait_blocking();
    check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    other.join();
}

// SHUT-75, SHUT-46: the last owner of a striped node goes, and so does the guard.
MODEL(striping_model, last_handle_and_guard) {
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    c->expect_contention();
    auto g = std::make_unique<guard>(c->guard());
    const auto notice = c->shutting_down();
    roost::seam::thread other([&g] { g.reset(); });
    c.reset();
    other.join();
    check(notice.is_resolved(), "SHUT-46: an interrupt never waits for ever");
    check(root.guard_count() == 0, "SHUT-75: nothing is left");
}

// SHUT-75: a node that finds no memory for its stripes counts as before.
TEST(striping_model, SHUT_75_without_memory_it_stays_as_it_was) {
    EXPECT_EXPLORED({.failing_allocations = 1}, [] {
        try {
            const shutdown s;
            shutdown_node& n = node_of(s);
            n.stripe();
            enter_guard(n);
            check(s.guard_count() == 1, "SHUT-75: counted once");
            n.leave_guard();
            n.settle();
            check(!n.has_work(), "SHUT-75: nothing is left");
            n.stripe();
            check(!n.has_work() || n.is_striped(), "SHUT-75: only stripes hold a unit of their own");
        } catch (const std::bad_alloc&) {
            return;  // there was none for the node
        }
    });
}

}  // namespace
