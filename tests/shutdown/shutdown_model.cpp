// Guards, stop and completion, every interleaving at small scope, on the code that ships.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;
using roost::testing::check;

// SHUT-71: at depth 3, two creators meet at the leaf while the root is stopped. A guard that has been returned is never
// missed: as long as it is held, no completion above resolves.
MODEL(shutdown_model, guard_and_ancestor_completion) {
    const shutdown root;
    const shutdown leaf = root.child().child();
    roost::seam::thread other([leaf, root] {
        const guard g = leaf.guard();
        check(!root.completion().is_resolved(), "SHUT-71: a returned guard is seen by every ancestor's completion");
    });
    auto done = root.shut_down();
    {
        const guard g = leaf.guard();
        check(root.state() != shutdown_state::complete, "SHUT-71: a returned guard is seen by the root's state");
    }
    other.join();
    check(done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-71: the creators alone, at depth 3 below a stopped root: small enough for every interleaving.
MODEL(shutdown_model, two_creators_at_depth_3) {
    const shutdown root;
    const shutdown leaf = root.child().child();
    auto done = root.shut_down();
    guard theirs;
    roost::seam::thread other([&theirs, leaf, root] {
        theirs = leaf.guard();
        check(root.state() != shutdown_state::complete, "SHUT-71: a returned guard is seen by the root's state");
    });
    guard mine = leaf.guard();
    check(root.state() != shutdown_state::complete, "SHUT-71: a returned guard is seen by the root's state");
    other.join();
    theirs.reset();
    check(root.state() != shutdown_state::complete, "SHUT-71: the other one still is");
    mine.reset();
    check(root.state() == shutdown_state::complete && done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-71: one creator and the stop of the root.
MODEL(shutdown_model, creator_and_stop_at_depth_3) {
    const shutdown root;
    const shutdown leaf = root.child().child();
    guard theirs;
    roost::seam::thread other([&theirs, leaf, root] {
        theirs = leaf.guard();
        check(root.state() != shutdown_state::complete, "SHUT-71: a returned guard is seen by the root's state");
    });
    auto done = root.shut_down();
    other.join();
    check(!done.is_resolved() || root.state() == shutdown_state::shutting_down, "SHUT-29: resolved before, or not at all");
    theirs.reset();
    check(done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-71, SHUT-72: two guards go while a thread reads the root's state.
MODEL(shutdown_model, two_drops_at_depth_3) {
    const shutdown root;
    const shutdown leaf = root.child().child();
    roost::seam::plain<int> work{0};
    guard mine = leaf.guard();
    guard theirs = leaf.guard();
    auto done = root.shut_down();
    roost::seam::thread other([&] {
        work.set(1);
        theirs.reset();
    });
    mine.reset();
    if (done.is_resolved()) {
        check(work.get() == 1, "SHUT-72: completion sees what the guarded work did");
    }
    other.join();
    check(done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-71: two siblings that meet at a middle node.
MODEL(shutdown_model, siblings_and_ancestor_completion) {
    const shutdown root;
    const shutdown middle = root.child();
    const shutdown left = middle.child();
    const shutdown right = middle.child();
    root.shut_down();
    roost::seam::thread other([left, root] {
        const guard g = left.guard();
        check(root.state() == shutdown_state::shutting_down, "SHUT-71: seen at the root");
    });
    {
        const guard g = right.guard();
        check(root.state() == shutdown_state::shutting_down, "SHUT-71: seen at the root");
    }
    other.join();
    check(root.state() == shutdown_state::complete, "SHUT-41: complete when nothing is left");
}

// SHUT-31, SHUT-72: stop and the last drop race; the waiter is woken, and sees what the work did.
MODEL(shutdown_model, stop_and_last_drop) {
    const shutdown s;
    roost::seam::plain<int> result{0};
    guard g = s.guard();
    roost::seam::thread worker([&result, &g] {
        result.set(1);
        g.reset();
    });
    s.shut_down().wait_blocking();
    check(result.get() == 1, "SHUT-72: completion sees what the guarded work did");
    worker.join();
}

// SHUT-31, SHUT-72: the last drop and a thread that starts to wait for it.
MODEL(shutdown_model, last_drop_and_wait) {
    const shutdown s;
    roost::seam::plain<int> result{0};
    guard g = s.guard();
    auto done = s.shut_down();
    roost::seam::thread worker([&result, &g] {
        result.set(1);
        g.reset();
    });
    done.wait_blocking();
    check(result.get() == 1, "SHUT-72: completion sees what the guarded work did");
    worker.join();
}

// SHUT-72: the looking form of the same.
MODEL(shutdown_model, looking_sees_work) {
    const shutdown s;
    roost::seam::plain<int> result{0};
    guard g = s.guard();
    roost::seam::thread worker([&result, &g] {
        result.set(1);
        g.reset();
    });
    auto done = s.shut_down();
    if (done.is_resolved()) {
        check(result.get() == 1, "SHUT-72: completion sees what the guarded work did");
    }
    worker.join();
}

// SHUT-13, SHUT-29: a late guard and the claim of the waiter. A completion made while the late guard is held waits for it.
MODEL(shutdown_model, late_guard_and_claim) {
    const shutdown s;
    s.shut_down();
    guard first = s.guard();
    roost::seam::plain<int> late_work{0};
    roost::seam::thread dropper([&first] { first.reset(); });
    {
        guard late = s.guard();
        auto done = s.completion();
        roost::seam::thread worker([&late_work, g = std::make_shared<guard>(std::move(late))] {
            late_work.set(1);
            g->reset();
        });
        done.wait_blocking();
        check(late_work.get() == 1, "SHUT-29: a completion made after the late guard waits for it");
        worker.join();
    }
    dropper.join();
}

// SHUT-13, SHUT-29: a completion that is looked at while the first guard goes and a late one comes.
MODEL(shutdown_model, late_guard_and_last_drop) {
    const shutdown s;
    guard first = s.guard();
    s.shut_down();
    roost::seam::thread dropper([&first] { first.reset(); });
    guard late = s.guard();
    auto done = s.completion();
    check(!done.is_resolved(), "SHUT-29: a completion made after the late guard waits for it");
    dropper.join();
    check(!done.is_resolved(), "SHUT-29: a completion made after the late guard waits for it");
    late.reset();
    check(done.is_resolved(), "SHUT-31: with every guard dropped it completes");
}

// SHUT-30: what the stopper did before is seen by a thread that sees the stop.
MODEL(shutdown_model, stop_publishes) {
    const shutdown s;
    const shutdown c = s.child();
    roost::seam::plain<int> before{0};
    roost::seam::thread looker([&before, i = c.interrupt(0)] {
        if (i.is_stopped()) {
            check(before.get() == 1, "SHUT-30: stop publishes what came before");
        }
    });
    before.set(1);
    s.shut_down();
    looker.join();
    check(c.interrupt(0).is_stopped(), "SHUT-73: the subtree is latched when shut_down returns");
}

// SHUT-49: a child made while the parent is stopped is stopped, and its completion comes.
MODEL(shutdown_model, child_and_stop) {
    const shutdown s;
    roost::seam::thread maker([s] {
        const shutdown c = s.child();
        guard g = c.guard();
        g.reset();
        c.completion().wait_blocking();
    });
    s.shut_down();
    maker.join();
    check(s.state() == shutdown_state::complete, "SHUT-49: the parent waits for no child that will never stop");
}

// SHUT-49: the child alone.
MODEL(shutdown_model, child_made_while_stopping) {
    const shutdown s;
    std::unique_ptr<shutdown> c;
    roost::seam::thread maker([&s, &c] { c = std::make_unique<shutdown>(s.child()); });
    s.shut_down();
    maker.join();
    check(c->state() == shutdown_state::complete, "SHUT-49: it is stopped, too");
    check(s.state() == shutdown_state::complete, "SHUT-49: and the parent does not wait for it");
}

// SHUT-73: two stoppers of one node with a child.
MODEL(shutdown_model, two_stoppers_of_a_pair) {
    const shutdown s;
    const shutdown below = s.child();
    roost::seam::thread other([&s, &below] {
        s.shut_down();
        check(below.observe().stop_requested(), "SHUT-73: latched when shut_down returns");
    });
    s.shut_down();
    check(below.observe().stop_requested(), "SHUT-73: latched when shut_down returns");
    other.join();
}

// SHUT-73: two stoppers; the first to return finds the whole subtree latched.
MODEL(shutdown_model, two_stoppers) {
    const shutdown s;
    const shutdown below = s.child().child();
    roost::seam::thread other([s, below] {
        s.shut_down();
        check(below.state() == shutdown_state::complete, "SHUT-73: latched when shut_down returns");
    });
    s.shut_down();
    check(below.state() == shutdown_state::complete, "SHUT-73: latched when shut_down returns");
    other.join();
}

// SHUT-9: a blocked thread is woken by stop.
MODEL(shutdown_model, notice_and_stop) {
    const shutdown s;
    const shutdown c = s.child();
    roost::seam::thread waiter([n = c.shutting_down()] { n.wait_blocking(); });
    s.shut_down();
    waiter.join();
}

}  // namespace
