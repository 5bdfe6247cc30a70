// Raising a level: concurrent raisers, attaching, ignoring, dying. Every interleaving at small scope.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/detail/deadline.hpp>
#include <roost/tree/detail/node.hpp>
#include <roost/tree/lease.hpp>

#include "model_node.hpp"

namespace {

using roost::level;
using roost::detail::child_kind;
using roost::testing::check;
using namespace model_node;

// TREE-5, TREE-6: a child is attached to a leaf while that leaf is being cancelled: born cancelled or told, not both, not
// neither.
MODEL_COMPLETE(raise_model, attach_to_leaf) {
    ref root = make_root(probe::quiet);
    ref leaf = make_child(*root, child_kind::idle, probe::quiet);
    roost::seam::thread canceller([root] { root->cancel(); });
    ref child = make_child(*leaf);
    const bool born = child->level_now() == level::cancel;
    canceller.join();
    check(child->level_now() == level::cancel, "TREE-5: no child stays running under a cancelled parent");
    check(child->raised_count() <= 1, "TREE-6: told at most once");
    if (!born) {
        check(child->raised_count() == 1, "TREE-5: told when it was not born cancelled");
    }
}

// TREE-5: attach to the raised node itself, while another child is there.
MODEL_COMPLETE(raise_model, attach_to_raised) {
    ref root = make_root(probe::quiet);
    ref first = make_child(*root, child_kind::idle, probe::quiet);
    roost::seam::thread canceller([root] {
        root->cancel();
        check(root->is_cancelled(), "TREE-2");
    });
    ref child = make_child(*root);
    canceller.join();
    check(child->level_now() == level::cancel && first->level_now() == level::cancel, "TREE-5: all are cancelled");
    check(child->raised_count() <= 1, "TREE-6: told at most once");
}

// TREE-2: a lease that is taken while its node is being cancelled loses neither the cancel nor its own mark.
MODEL_COMPLETE(raise_model, lease_and_raise) {
    ref root = make_root(probe::quiet);
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        const auto held = roost::detail::tree_access::adopt_lease((root->enter(), *root));
        check(root->was_leased(), "SHUT-115: the lease is marked");
    }
    canceller.join();
    check(root->is_cancelled() && root->was_leased(), "TREE-2: both are there");
}

// TREE-4: a child that sees itself cancelled sees what the canceller did before.
MODEL_COMPLETE(raise_model, born_cancelled) {
    roost::seam::plain<int> before{0};
    ref root = make_root(probe::quiet);
    roost::seam::thread canceller([root, &before] {
        before.set(1);
        root->cancel();
    });
    ref child = make_child(*root, child_kind::idle, probe::quiet);
    if (child->is_cancelled()) {
        check(before.get() == 1, "TREE-4: born cancelled carries the canceller's writes");
    }
    canceller.join();
}

// TREE-2: a second raiser that finds the level raised helps until the subtree is latched.
MODEL_COMPLETE(raise_model, helper_waits) {
    ref root = make_root(probe::quiet);
    ref middle = make_child(*root, child_kind::idle, probe::quiet);
    ref leaf = make_child(*middle, child_kind::idle, probe::quiet);
    roost::seam::thread other([root, leaf] {
        root->cancel();
        check(leaf->is_cancelled(), "TREE-2: latched when raise returns");
    });
    root->cancel();
    check(leaf->is_cancelled_relaxed(), "TREE-2: latched when raise returns, also for the second raiser");
    other.join();
}

// TREE-2, TREE-6: raisers at two nodes of one path, two levels; each node is told once per level.
MODEL_COMPLETE(raise_model, two_raisers) {
    ref root = make_root(probe::quiet);
    ref middle = make_child(*root, child_kind::idle, probe::quiet);
    ref leaf = make_child(*middle);
    leaf->on_raised = [](level) {};
    roost::seam::thread other([root, leaf] {
        root->cancel();
        check(leaf->is_cancelled(), "TREE-2: latched when raise returns");
    });
    middle->cancel(roost::reason::plain_kind(roost::reason_kind::timeout));
    check(leaf->is_cancelled(), "TREE-2: latched when raise returns");
    const auto kind = leaf->why(level::cancel).kind();
    other.join();
    check(leaf->raised_count() == 1, "TREE-6: told once");
    check(leaf->why(level::cancel).kind() == kind, "TREE-7: a reason never changes");
}

// TREE-4, TREE-10: every way to ask sees what the raiser did before.
MODEL_COMPLETE(raise_model, observers) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> before{0};
    roost::seam::thread other([root, &before] {
        before.set(1);
        root->cancel();
    });
    bool seen = false;
    switch (roost::testing::choose(4)) {
        case 0: seen = root->level_now() == level::cancel; break;
        case 1: seen = root->cancel_requested(); break;
        case 2: seen = root->is_stopping(); break;
        default: seen = root->is_cancelled(); break;
    }
    if (seen) {
        check(before.get() == 1, "TREE-10: the level carries what was done before it was raised");
    }
    other.join();
}

// TREE-37: the last owner leaves while a level is raised.
MODEL_COMPLETE(raise_model, gone_carries) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> before{0};
    roost::seam::thread other([root, &before] {
        before.set(1);
        root->mark_gone();
    });
    root->stop();
    if (root->is_gone()) {
        check(before.get() == 1, "TREE-37: gone carries what the owner did");
    }
    other.join();
    check(root->is_gone() && root->is_stopping(), "TREE-1: neither gets lost");
}

// TREE-60: a view begins to observe while a level arrives, from above or at the node itself: it finds the level, or it is told
// and finds what the observer had prepared. Never neither.
void observe_while_raised(const ref& at, const ref& observed) {
    roost::seam::atomic<std::uint32_t> prepared{0};
    roost::seam::plain<int> before{0};
    bool was_found = false;
    observed->on_raised = [&prepared, &was_found](level) { was_found = prepared.load(roost::seam::mo::relaxed) == 1; };
    roost::seam::thread raiser([&at, &before] {
        before.set(1);
        at->stop();
    });
    prepared.store(1, roost::seam::mo::relaxed);
    const bool is_raised = observed->observe_level();
    if (is_raised) {
        check(before.get() == 1, "TREE-60: the observer sees what the raiser did");
    }
    raiser.join();
    check(is_raised || was_found, "TREE-60: told of what was prepared, or seen");
}
MODEL_COMPLETE(raise_model, observe_and_raise) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root, child_kind::idle, probe::table, {.unobserved = true});
    observe_while_raised(root, child);
}
MODEL_COMPLETE(raise_model, observe_and_raise_here) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root, child_kind::idle, probe::table, {.unobserved = true});
    observe_while_raised(child, child);
}

// TREE-1: the end of one walk against the arrival of another level.
MODEL_COMPLETE(raise_model, finish_against_raise) {
    ref root = make_root(probe::quiet);
    ref middle = make_child(*root, child_kind::idle, probe::quiet);
    roost::seam::thread other([root] { root->cancel(); });
    middle->stop();
    other.join();
    check(middle->is_cancelled(), "TREE-1: no level gets lost");
}

// TREE-4: a child that is born stopped while a cancel comes.
MODEL_COMPLETE(raise_model, born_between_two_levels) {
    ref root = make_root(probe::quiet);
    root->stop();
    roost::seam::thread other([root] { root->cancel(); });
    ref child = make_child(*root, child_kind::idle, probe::quiet);
    other.join();
    check(child->is_cancelled() && child->why(level::stop).kind() == roost::reason_kind::requested, "TREE-5: both arrive");
}

// TREE-5: attach to a leaf that has nothing but a deadline.
MODEL_COMPLETE(raise_model, attach_behind_a_deadline) {
    ref root = make_root(probe::quiet);
    ref leaf = make_child(*root, child_kind::idle, probe::quiet);
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        roost::detail::own_deadline limit(*leaf, roost::time_point(roost::duration(1)));
        ref child = make_child(*leaf, child_kind::idle, probe::quiet);
        canceller.join();
        check(child->is_cancelled(), "TREE-5: no child stays running under a cancelled parent");
    }
}

// TREE-33: a view that is told tries to keep the node while its last holder leaves.
MODEL_COMPLETE(raise_model, kept_while_dying) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root);
    probe* raw = child.get();
    roost::detail::node_ref<> kept;
    child->on_raised = [raw, &kept](level) { kept = roost::detail::node_ref<>::try_share(*raw); };
    roost::seam::thread canceller([root] { root->cancel(); });
    child = {};
    canceller.join();
    if (kept) {
        check(kept->is_cancelled(), "TREE-33: kept, and alive");
    }
}

// TREE-13: cancel against the end of an ignore guard: the deferred walk runs exactly once.
MODEL_COMPLETE(raise_model, ignore_leave) {
    ref root = make_root(probe::quiet);
    ref job = make_child(*root);
    ref below = make_child(*job);
    check(job->enter_ignore(), "TREE-11: nobody has cancelled yet");
    roost::seam::thread canceller([root] { root->cancel(); });
    job->leave_ignore();
    canceller.join();
    check(job->is_cancelled() && below->is_cancelled(), "TREE-13: cancel has effect after the guard");
    check(job->raised_count() == 1 && below->raised_count() == 1, "TREE-13: told exactly once");
}

// TREE-11: cancel against the entry of an ignore guard: refused, or held up.
MODEL_COMPLETE(raise_model, ignore_enter) {
    ref root = make_root(probe::quiet);
    ref below = make_child(*root, child_kind::idle, probe::quiet);
    roost::seam::thread canceller([root] { root->cancel(); });
    const bool inside = root->enter_ignore();
    if (inside) {
        check(!root->is_cancelled(), "TREE-12: inside the guard there is no effect");
        check(!below->is_cancelled(), "TREE-12: nor below");
        root->leave_ignore();
    }
    canceller.join();
    check(root->is_cancelled() && below->is_cancelled(), "TREE-13: in the end it has effect");
}

// TREE-33: a child dies while a walker is on its way through it.
MODEL_COMPLETE(raise_model, death_under_the_walker) {
    ref root = make_root(probe::quiet);
    ref middle = make_child(*root, child_kind::idle, probe::quiet);
    ref leaf = make_child(*middle);
    roost::seam::thread canceller([root] { root->cancel(); });
    middle = {};
    leaf = {};
    canceller.join();
    check(!root->has_members(), "TREE-33: nothing dead stays linked");
}

// TREE-33: the same with two walkers.
TEST(raise_model, death_under_two_walkers) {
    roost::testing::explore_all(
        [] {
            ref root = make_root(probe::quiet);
            ref middle = make_child(*root, child_kind::idle, probe::quiet);
            ref leaf = make_child(*middle);
            roost::seam::thread canceller([root] { root->cancel(); });
            roost::seam::thread stopper([root] { root->stop(); });
            middle = {};
            leaf = {};
            canceller.join();
            stopper.join();
            check(!root->has_members(), "TREE-33: nothing dead stays linked");
        },
        {.seconds = 20});
}

// Attach, cancel and completion at once.
TEST(raise_model, attach_cancel_complete) {
    roost::testing::explore_all(
        [] {
            ref root = make_root(probe::table);
            root->enter();
            roost::seam::thread canceller([root] { root->cancel(); });
            roost::seam::thread body([root] { root->close_and_leave(); });
            {
                ref child = make_child(*root, child_kind::working);
                if (child) {
                    child->close_and_leave();
                }
            }
            canceller.join();
            body.join();
            check(root->drained_count.get() == 1, "TREE-18: drained once");
            check(root->is_cancelled(), "TREE-2: cancelled");
            check(!root->has_members(), "TREE-31: nobody left in the list");
        },
        {.seconds = 20});
}

// TREE-6: told on the walker's thread while the owner lets go: the node stays in memory during the call.
MODEL_COMPLETE(raise_model, told_while_dying) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root);
    probe* raw = child.get();
    child->on_raised = [raw](level) { check(raw->cancel_requested(), "TREE-6: told after the latch"); };
    roost::seam::thread canceller([root] { root->cancel(); });
    child = {};
    canceller.join();
}

}  // namespace
