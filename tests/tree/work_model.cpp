// Counting work up the tree, every interleaving at small scope, on the code that ships.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/detail/node.hpp>

#include "model_node.hpp"

namespace {

using roost::level;
using roost::detail::child_kind;
using roost::testing::check;
using namespace model_node;

// TREE-16, at depth 2: two creators at one leaf; the first to return must be seen at the root although the other may be
// anywhere in its announcement.
MODEL_COMPLETE(work_model, visible_at_root) {
    ref root = make_root();
    {
        ref leaf = make_child(*root);
        roost::seam::thread other([leaf] {
            leaf->enter();
            check(leaf->parent()->has_work(), "TREE-16: a returned unit is seen at the root");
            leaf->leave();
        });
        leaf->enter();
        check(root->has_work(), "TREE-16: a returned unit is seen at the root");
        leaf->leave();
        other.join();
    }
    check(!root->has_work(), "TREE-16: nothing is left at the root");
}

// TREE-16, at depth 3: siblings meet at a middle node.
MODEL(work_model, siblings_meet_in_the_middle) {
    ref root = make_root();
    {
        ref middle = make_child(*root);
        ref left = make_child(*middle);
        ref right = make_child(*middle);
        roost::seam::thread other([left, root] {
            left->enter();
            check(root->has_work(), "TREE-16: a returned unit is seen at the root");
            left->leave();
        });
        right->enter();
        check(root->has_work() && middle->has_work(), "TREE-16: a returned unit is seen at every ancestor");
        right->leave();
        other.join();
    }
    check(!root->has_work(), "TREE-16: nothing is left at the root");
}

// TREE-16: a creator at the leaf and one at the middle node.
MODEL_COMPLETE(work_model, leaf_and_middle) {
    ref root = make_root();
    {
        ref middle = make_child(*root);
        ref leaf = make_child(*middle);
        roost::seam::thread other([leaf, root] {
            leaf->enter();
            check(root->has_work(), "TREE-16: a returned unit is seen at the root");
            leaf->leave();
        });
        middle->enter();
        check(root->has_work(), "TREE-16: a returned unit is seen at the root");
        middle->leave();
        other.join();
    }
    check(!root->has_work(), "TREE-16: nothing is left at the root");
}

// TREE-16: a working child attached to a node that another thread is announcing.
MODEL_COMPLETE(work_model, attach_visible_at_root) {
    ref root = make_root();
    {
        ref middle = make_child(*root);
        roost::seam::thread other([middle] {
            middle->enter();
            middle->leave();
        });
        ref child = make_child(*middle, child_kind::working);
        check(root->has_work(), "TREE-16: an attached child's work is seen at the root");
        child->leave();
        other.join();
    }
    check(!root->has_work(), "TREE-16: nothing is left at the root");
}

// TREE-29: every way to ask sees what came before.
MODEL_COMPLETE(work_model, observers) {
    ref root = make_root();
    roost::seam::plain<int> before{0};
    root->enter();
    roost::seam::thread other([root, &before] {
        before.set(1);
        root->close_and_leave();
    });
    bool seen = false;
    switch (roost::testing::choose(4)) {
        case 0: seen = root->is_closing(); break;
        case 1: seen = root->is_closed(); break;
        case 2: seen = root->units() == 0; break;
        default: seen = !root->has_work(); break;
    }
    if (seen) {
        check(before.get() == 1, "TREE-29: whoever sees the end sees the work");
    }
    other.join();
}

// TREE-18, TREE-29: the root drains exactly once after close, and a thread that sees it sees what the work did.
MODEL_COMPLETE(work_model, drain_sees_work) {
    ref root = make_root();
    roost::seam::plain<int> done_by_work{0};
    ref leaf = make_child(*root);
    leaf->enter();
    roost::seam::thread other([leaf, &done_by_work] {
        done_by_work.set(1);
        leaf->leave();
    });
    root->on_drained = [&done_by_work] { check(done_by_work.get() == 1, "TREE-29: a drain sees what the work did"); };
    root->close();
    if (!root->has_work()) {
        check(done_by_work.get() == 1, "TREE-29: no work means the work is visible");
    }
    other.join();
    check(root->drained_count.get() == 1, "TREE-18: drained exactly once");
    check(root->is_closed(), "TREE-20: closed for ever");
}

// TREE-29: the body that ends last, and so drains, sees what was done by a unit that went before.
MODEL_COMPLETE(work_model, body_ends_last) {
    ref root = make_root();
    roost::seam::plain<int> done_by_work{0};
    root->enter();
    root->enter();
    root->on_drained = [&done_by_work] { check(done_by_work.get() == 1, "TREE-29: a drain sees what the work did"); };
    roost::seam::thread other([root, &done_by_work] {
        done_by_work.set(1);
        root->leave();
    });
    root->close_and_leave();
    other.join();
    check(root->drained_count.get() == 1, "TREE-18: drained exactly once");
}

// TREE-29: both workers' writes are seen by the draining thread, also those of the worker that was not the last.
MODEL_COMPLETE(work_model, two_workers) {
    ref root = make_root();
    roost::seam::plain<int> one{0};
    roost::seam::plain<int> two{0};
    root->enter();
    root->enter();
    root->close();
    root->on_drained = [&] { check(one.get() + two.get() == 2, "TREE-29: a drain sees what all of the work did"); };
    roost::seam::thread a([root, &one] {
        one.set(1);
        root->leave();
    });
    two.set(1);
    root->leave();
    a.join();
    check(root->drained_count.get() == 1, "TREE-18: drained exactly once");
}

// TREE-29: as above, for units of a node that counts only its own.
MODEL_COMPLETE(work_model, two_own_units) {
    ref root = make_root();
    roost::seam::plain<int> one{0};
    roost::seam::plain<int> two{0};
    bool was_mixed = true;
    check(root->try_enter_own(was_mixed) && !was_mixed, "TREE-18: nothing else is counted");
    check(root->try_enter_own(was_mixed) && !was_mixed, "TREE-18: nothing else is counted");
    root->close();
    root->on_drained = [&] { check(one.get() + two.get() == 2, "TREE-29: a drain sees what all of the work did"); };
    roost::seam::thread a([root, &one] {
        one.set(1);
        check(root->leave_unmixed(), "TREE-18: nothing else is counted");
    });
    two.set(1);
    check(root->leave_unmixed(), "TREE-18: nothing else is counted");
    a.join();
    check(root->drained_count.get() == 1, "TREE-18: drained exactly once");
}

// TREE-18: watching against the last unit: the watcher sees that there is no work, or is told.
MODEL_COMPLETE(work_model, watch_against_last_unit) {
    ref root = make_root();
    roost::seam::plain<int> registered{0};
    roost::seam::atomic<std::uint32_t> told{0};
    root->enter();
    root->on_drained = [&] {
        check(registered.get() == 1, "TREE-18: whoever is told sees what the watcher registered");
        told.store(1, roost::seam::mo::relaxed);
    };
    roost::seam::thread worker([root] { root->leave(); });
    registered.set(1);
    root->watch();
    const bool idle = !root->has_work();
    worker.join();
    check(idle || told.load(roost::seam::mo::relaxed) == 1, "TREE-18: no crossing is missed");
}

// TREE-18: two last units race with each other and with the closing.
MODEL_COMPLETE(work_model, two_last_units) {
    ref root = make_root();
    ref leaf = make_child(*root);
    leaf->enter();
    root->enter();
    roost::seam::thread a([leaf] { leaf->leave(); });
    roost::seam::thread b([root] { root->leave(); });
    root->close();
    a.join();
    b.join();
    check(root->drained_count.get() == 1, "TREE-18: drained exactly once");
}

// TREE-19, TREE-30: the last unit against the holder that frees the node; handles are gone while work is in flight.
MODEL_COMPLETE(work_model, last_unit_against_last_holder) {
    ref root = make_root();
    {
        ref leaf = make_child(*root);
        leaf->enter();
        probe* held = leaf.get();
        roost::seam::thread other([held] { held->leave(); });
        leaf = {};
        root = {};
        other.join();
    }
}

// TREE-19: a drained view that lets a joiner free everything, while the one who left last is still inside.
MODEL_COMPLETE(work_model, joiner_frees) {
    roost::seam::atomic<std::uint32_t> drained{0};
    ref root = make_root();
    root->on_drained = [&drained] { drained.store(1, roost::seam::mo::release); };
    root->enter();
    probe* held = root.get();
    roost::seam::thread worker([held] { held->leave(); });
    root->close();
    while (drained.load(roost::seam::mo::acquire) == 0) {
        roost::seam::yield_thread();
    }
    root = {};
    worker.join();
}

// TREE-20, TREE-27: attaching a working child races with the last unit of a closing parent: waited for or refused.
MODEL_COMPLETE(work_model, attach_against_closing) {
    ref root = make_root();
    root->enter();
    bool admitted = false;
    roost::seam::thread body([root] { root->close_and_leave(); });
    {
        ref child = make_child(*root, child_kind::working);
        admitted = static_cast<bool>(child);
        if (child) {
            check(!root->is_closed(), "TREE-20: a parent with a working child is not closed");
            check(root->drained_count.get() == 0, "TREE-20: nor drained");
            child->leave();
        }
    }
    body.join();
    check(root->is_closed() && root->drained_count.get() == 1, "TREE-20: closed and drained once");
    static_cast<void>(admitted);
}

// TREE-27: work below a node that closes meanwhile is refused or counted.
MODEL_COMPLETE(work_model, work_below_a_closing_node) {
    ref root = make_root();
    ref leaf = make_child(*root);
    roost::seam::thread closer([root] { root->close(); });
    if (leaf->try_enter()) {
        check(!root->is_closed(), "TREE-27: admitted work keeps the ancestor open");
        leaf->leave();
    }
    closer.join();
    check(root->drained_count.get() == 1 && !root->has_work() && !leaf->has_work(), "TREE-27: drained once, nothing left");
}

// TREE-24: a late unit on a watched node against the drain of the one before.
MODEL_COMPLETE(work_model, late_unit) {
    ref root = make_root();
    ref node = make_child(*root);
    node->watch();
    node->enter();
    roost::seam::thread other([node, root] {
        node->enter();
        check(root->has_work(), "TREE-24: a late unit is seen at the root");
        node->leave();
    });
    node->leave();
    other.join();
    const std::uint32_t drains = node->crossings.load(roost::seam::mo::relaxed);
    check(drains == 1 || drains == 2, "TREE-24: once per crossing");
    check(!root->has_work(), "TREE-24: nothing is left");
}

}  // namespace
