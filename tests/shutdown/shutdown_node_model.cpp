// Who owns a node, and when it is gone.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>
#include <new>
#include <string>

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;
using roost::testing::check;

// SHUT-46: the last handle and the last guard go at the same time; whichever is last, interrupts end, and not before.
MODEL(shutdown_node_model, last_handle_and_guard) {
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    auto g = std::make_unique<guard>(c->guard());
    const auto notice = c->shutting_down();
    roost::seam::thread other([&g, &notice] {
        check(!notice.is_resolved(), "SHUT-46: a guard keeps the node running for its interrupts");
        g.reset();
    });
    c.reset();
    other.join();
    check(notice.is_resolved(), "SHUT-46: an interrupt never waits for ever");
    check(root.state() == shutdown_state::running, "SHUT-44: dropping a child's handle asks nothing");
}

// SHUT-46: a thread is blocked on the notice meanwhile.
MODEL(shutdown_node_model, blocked_on_a_node_that_goes) {
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    roost::seam::thread waiter([notice = c->shutting_down()] { notice.wait_blocking(); });
    c.reset();
    waiter.join();
}

// SHUT-43: two copies of a root handle go at the same time: it is stopped once, by the last.
MODEL(shutdown_node_model, last_root_handle) {
    auto a = std::make_unique<shutdown>();
    auto b = std::make_unique<shutdown>(*a);
    const shutdown c = a->child();
    roost::seam::thread other([&b] { b.reset(); });
    a.reset();
    other.join();
    check(c.state() == shutdown_state::complete, "SHUT-43: the last root handle stops the tree");
}

// SHUT-43: what was done before a handle was dropped comes before the stop that the last one causes.
MODEL(shutdown_node_model, last_root_handle_publishes) {
    auto a = std::make_unique<shutdown>();
    auto b = std::make_unique<shutdown>(*a);
    const shutdown c = a->child();
    roost::seam::plain<int> before{0};
    roost::seam::thread other([&b, &before] {
        before.set(1);
        b.reset();
    });
    roost::seam::thread observer([&c, &before] {
        if (c.observe().stop_requested()) {
            check(before.get() == 1, "SHUT-43: everybody's use of a root comes before it is stopped");
        }
    });
    a.reset();
    other.join();
    observer.join();
}

// SHUT-46: and before the end of interrupts when a child goes.
MODEL(shutdown_node_model, going_publishes) {
    const shutdown root;
    auto a = std::make_unique<shutdown>(root.child());
    auto b = std::make_unique<shutdown>(*a);
    const auto notice = a->shutting_down();
    roost::seam::plain<int> before{0};
    roost::seam::thread other([&b, &before] {
        before.set(1);
        b.reset();
    });
    a.reset();
    if (notice.is_resolved()) {
        check(before.get() == 1, "SHUT-46: everybody's use of a node comes before it is gone");
    }
    other.join();
    check(notice.is_resolved(), "SHUT-46: an interrupt never waits for ever");
}

// SHUT-44, SHUT-64: two handles, the only owners of a child, go at the same time, one of them after some work: the child goes
// once, and what the other did comes before.
MODEL(shutdown_node_model, unshared_child_goes) {
    const shutdown root;
    auto a = std::make_unique<shutdown>(root.child());
    auto b = std::make_unique<shutdown>(*a);
    roost::seam::thread other([&b] {
        static_cast<void>(b->guard());
        b.reset();
    });
    a.reset();
    other.join();
    check(!roost::detail::tree_access::core_of(root.tree_node()).has_members(), "SHUT-64: nothing is left of it");
    check(root.guard_count() == 0 && root.state() == shutdown_state::running, "SHUT-44: and the root goes on");
}

// SHUT-64, SHUT-73: a child goes while the root is stopped.
MODEL(shutdown_node_model, unshared_child_and_stop) {
    auto root = std::make_unique<shutdown>();
    auto c = std::make_unique<shutdown>(root->child());
    roost::seam::thread other([&c] { c.reset(); });
    root->shut_down();
    check(root->state() == shutdown_state::complete, "SHUT-41: an idle child delays nobody");
    other.join();
    check(!roost::detail::tree_access::core_of(root->tree_node()).has_members(), "SHUT-64: nothing is left of it");
}

// SHUT-2: two threads copy one handle.
MODEL(shutdown_node_model, copies) {
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    const auto notice = c->shutting_down();
    std::unique_ptr<shutdown> theirs;
    roost::seam::thread other([&c, &theirs] { theirs = std::make_unique<shutdown>(*c); });
    auto mine = std::make_unique<shutdown>(*c);
    other.join();
    c.reset();
    mine.reset();
    check(!notice.is_resolved(), "SHUT-2: a copy keeps the node");
    theirs.reset();
    check(notice.is_resolved(), "SHUT-46: none is left");
}

// SHUT-43, SHUT-25: the last root handle, and a completion that is given up at the same time.
MODEL(shutdown_node_model, root_handle_and_completion) {
    auto s = std::make_unique<shutdown>();
    auto done = std::make_unique<roost::shutdown_completion>(s->completion());
    guard g = s->guard();
    roost::seam::thread other([&done] { done.reset(); });
    s.reset();
    other.join();
    check(g.observe().stop_requested(), "SHUT-43: stopped");
}

// SHUT-46, SHUT-47: a child and its parent's last handle go at the same time.
MODEL(shutdown_node_model, child_and_parent_go) {
    const shutdown root;
    auto middle = std::make_unique<shutdown>(root.child());
    auto leaf = std::make_unique<shutdown>(middle->child());
    const auto above = middle->shutting_down();
    const auto below = leaf->shutting_down();
    roost::seam::thread other([&leaf] { leaf.reset(); });
    middle.reset();
    other.join();
    check(above.is_resolved() && below.is_resolved(), "SHUT-46: nothing is left that could stop them");
}

// SHUT-45: the guard is the last to know its node, and goes while the root is stopped.
MODEL(shutdown_node_model, orphaned_guard_and_stop) {
    const shutdown root;
    auto g = std::make_unique<guard>(root.child().guard());
    roost::seam::thread other([&g] { g.reset(); });
    auto done = root.shut_down();
    done.wait_blocking();
    other.join();
}

// SHUT-45: the same without the waiting.
MODEL(shutdown_node_model, orphaned_guard_and_latch) {
    const shutdown root;
    auto g = std::make_unique<guard>(root.child().guard());
    roost::seam::thread other([&g] { g.reset(); });
    root.tree_node().stop();
    other.join();
    check(root.state() == shutdown_state::complete, "SHUT-45: nothing is left");
}

// SHUT-22: a guard through an interrupt, while the last handle goes.
MODEL(shutdown_node_model, guarded_interrupt_and_last_handle) {
    const shutdown root;
    auto c = std::make_unique<shutdown>(root.child());
    auto i = c->interrupt(0);
    roost::seam::thread other([&c] { c.reset(); });
    {
        const auto chained = std::move(i).guarded();
        const bool counted = root.guard_count() == 1;
        check(counted || chained.is_stopped(), "SHUT-22: it counts, or the node is gone");
    }
    other.join();
    check(root.guard_count() == 0, "SHUT-42: nothing is left");
}

// SHUT-8: without memory for a node or for its name nothing is made, and nothing of it is left.
TEST(shutdown_node_model, SHUT_8_no_memory_for_a_child) {
    EXPECT_EXPLORED({.failing_allocations = 1}, [] {
        const std::string name(100, 'n');
        try {
            const shutdown parent(name);
            try {
                const shutdown child = parent.child(name);
                check(child.name() == name, "SHUT-8: it has its name");
            } catch (const std::bad_alloc&) {
                check(parent.child().state() == shutdown_state::running, "SHUT-8: the next one is made");
            }
            check(parent.shut_down().is_resolved(), "SHUT-37: no child delays it");
        } catch (const std::bad_alloc&) {
            return;  // there was none for the root
        }
    });
}

}  // namespace
