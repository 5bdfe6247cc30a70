// A guard that may be refused, while the node is stopped and a thread acts on its completion.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::shutdown;
using roost::detail::shutdown_node;
using roost::testing::check;

shutdown_node& node_of(const shutdown& s) {
    return static_cast<shutdown_node&>(roost::detail::tree_access::core_of(s.tree_node()));
}

// Used by guarded work, and freed by the thread that sees the completion.
class database {
public:
    // A request.
    void use_if_admitted(shutdown_node& n) {
        auto&& mine = roost::detail::guards_of_this_thread();
        if (n.try_enter_guard(mine)) {
            check(there_.get() == 1, "SHUT-100: work that was admitted is waited for");
            n.leave_guard();
        }
    }
    // The thread that waits for the end.
    void free_if_complete(shutdown_node& n) {
        n.settle();
        if (n.is_complete()) {
            there_.set(0);
        }
    }

private:
    roost::seam::plain<int> there_{1};
};

// What a stop does to one node, and nothing else of it: it sets the level, and closes the stripes when it is told.
void level_arrives(shutdown_node& n) {
    using namespace roost::detail;
    const level_word before =
        roost::detail::node_access::level_of(n).fetch_or(raised_bit(roost::level::stop), roost::seam::mo::seq_cst);
    if ((before & unobserved_bit) == 0) {
        n.settle();
    }
}

// SHUT-100: the stopping thread frees what the work used when it finds no work left.
MODEL(try_guard_model, SHUT_100_stop_and_completion) {
    const shutdown s;
    database db;
    shutdown_node& n = node_of(s);
    roost::seam::thread other([&] {
        level_arrives(n);
        db.free_if_complete(n);
    });
    db.use_if_admitted(n);
    other.join();
    check(s.state() == roost::shutdown_state::complete, "SHUT-31: with every guard dropped it completes");
}

// SHUT-100: the same with the calls that users make.
TEST(try_guard_model, SHUT_100_shut_down_and_wait) {
    EXPECT_EXPLORED({.preemption_bound = 2}, [] {
        const shutdown s;
        roost::seam::plain<int> there{1};
        roost::seam::thread other([&] {
            s.shut_down().wait_blocking();
            there.set(0);
        });
        if (const auto working = s.try_guard()) {
            check(there.get() == 1, "SHUT-100: work that was admitted is waited for");
        }
        other.join();
    });
}

// SHUT-100: another thread than the stopping one sees the completion.
MODEL(try_guard_model, SHUT_100_completion_seen_elsewhere) {
    const shutdown s;
    database db;
    shutdown_node& n = node_of(s);
    roost::seam::thread stopper([&n] { level_arrives(n); });
    roost::seam::thread observer([&] { db.free_if_complete(n); });
    db.use_if_admitted(n);
    stopper.join();
    observer.join();
}

// SHUT-100: the root is complete, and the stop is still on its way to the child that is asked.
MODEL(try_guard_model, SHUT_100_below_the_one_that_completes) {
    const shutdown root;
    const shutdown child = root.child();
    database db;
    roost::seam::thread other([&] {
        level_arrives(node_of(root));
        db.free_if_complete(node_of(root));
    });
    db.use_if_admitted(node_of(child));
    other.join();
    check(root.state() == roost::shutdown_state::complete, "SHUT-31: with every guard dropped it completes");
}

// SHUT-100: the same when the child is counted by the root because of a guard that came too late to delay the completion.
TEST(try_guard_model, SHUT_100_below_beside_a_late_guard) {
    EXPECT_EXPLORED({.preemption_bound = 2}, [] {
        const shutdown root;
        const shutdown child = root.child();
        database db;
        roost::seam::thread other([&] {
            level_arrives(node_of(root));
            db.free_if_complete(node_of(root));
        });
        roost::seam::thread late([&child] {
            auto&& mine = roost::detail::guards_of_this_thread();
            node_of(child).enter_guard(mine);
            node_of(child).leave_guard();
        });
        db.use_if_admitted(node_of(child));
        other.join();
        late.join();
    });
}

// SHUT-100: a node that counts per thread.
TEST(try_guard_model, SHUT_100_striped) {
    EXPECT_EXPLORED({.preemption_bound = 2}, [] {
        const shutdown root;
        const shutdown s = root.child();
        database db;
        shutdown_node& n = node_of(s);
        n.stripe();
        roost::seam::thread other([&] {
            level_arrives(n);
            db.free_if_complete(n);
        });
        db.use_if_admitted(n);
        other.join();
        check(!n.has_work(), "SHUT-75: nothing is left");
    });
}

// SHUT-100: and one that begins to, below a root that completes.
TEST(try_guard_model, SHUT_100_becomes_striped) {
    EXPECT_EXPLORED({.preemption_bound = 2}, [] {
        const shutdown root;
        const shutdown s = root.child();
        database db;
        shutdown_node& n = node_of(s);
        roost::seam::thread other([&] {
            level_arrives(node_of(root));
            db.free_if_complete(node_of(root));
        });
        roost::seam::thread striper([&n] { n.stripe(); });
        db.use_if_admitted(n);
        other.join();
        striper.join();
        n.settle();
        check(!n.has_work(), "SHUT-75: nothing is left");
    });
}

}  // namespace
