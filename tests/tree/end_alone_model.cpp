// A node that ends without other holders, against all that might hold it: the last holder, walkers, other children.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/visit.hpp>

#include "model_node.hpp"

namespace {

using roost::level;
using roost::detail::child_kind;
using roost::testing::check;
using namespace model_node;

// A child whose end looks at what its holders wrote.
struct written : probe {
    roost::seam::plain<int> note{0};
    roost::seam::plain<int>* seen;

    written(roost::detail::node& up, roost::seam::plain<int>& out) : probe(table, up, {}), seen(&out) {}
    static void destroy(roost::detail::node& n) noexcept {
        auto& self = static_cast<written&>(static_cast<probe&>(n));
        self.seen->set(self.note.get());
        self.~written();
        roost::seam::deallocate_frame(&self, sizeof(written));
    }
    static bool drained(roost::detail::node&) noexcept { return true; }
    static constexpr roost::detail::node_functions table{.kind = "written", .destroy = &destroy, .drained = &drained};
};

written& make_written(roost::detail::node& up, roost::seam::plain<int>& out) {
    auto* made = ::new (roost::seam::allocate_frame(sizeof(written))) written(up, out);
    check(made->attach(child_kind::working) == roost::detail::attached::yes, "attached");
    return *made;
}

void end(roost::detail::node& n) {
    if (!n.end_alone(0)) {
        n.close_and_leave();
    }
}

// TREE-57: what the last holder did is over, and visible, before the node is destroyed; it is destroyed once.
MODEL(end_alone_model, last_holder) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> seen{0};
    written& child = make_written(*root, seen);
    roost::seam::thread holder([&child] {
        child.note.set(7);
        child.release();
    });
    end(child);
    holder.join();
    check(seen.get() == 7, "TREE-57: the holder's write came first");
    check(!root->has_work() && !root->has_members(), "TREE-57: nothing is left at the parent");
}

// TREE-57: a thread that finds that it is alone sees what the others did.
MODEL(end_alone_model, alone_carries) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> seen{0};
    written& child = make_written(*root, seen);
    roost::seam::thread holder([&child] {
        child.note.set(7);
        child.release();
    });
    if (child.is_alone(0)) {
        check(child.note.get() == 7, "TREE-57: the holder's write came first");
    }
    holder.join();
    end(child);
}

// TREE-57: a walker that stands on the node keeps it until it has left.
MODEL(end_alone_model, against_a_raise) {
    ref root = make_root();
    {
        ref child = make_child(*root, child_kind::working);
        probe& mine = *child.release_to_caller();
        mine.release();  // only its own unit is left
        roost::seam::thread canceller([root] { root->cancel(); });
        end(mine);
        canceller.join();
    }
    check(!root->has_work() && !root->has_members(), "TREE-57: nothing is left at the parent");
}

// TREE-57: a walker that finds it either holds it or finds it gone.
MODEL(end_alone_model, against_a_visitor) {
    ref root = make_root();
    probe& mine = *make_child(*root, child_kind::working).release_to_caller();
    mine.release();
    roost::seam::thread visitor([root] {
        roost::detail::node_ref<> kept;
        roost::observe::visit(*root, 2, [&](const roost::observe::node_description& d) {
            if (d.depth == 1) {
                kept = roost::detail::node_ref<>::try_share(*d.target);
            }
        });
        check(!kept || kept->parent() == root.get(), "TREE-57: what is held is whole");
    });
    end(mine);
    visitor.join();
    check(!root->has_work() && !root->has_members(), "TREE-57: nothing is left at the parent");
}

void go(roost::detail::node& n) {
    if (!roost::detail::node_access::end_unshared(n)) {
        n.release();
    }
}

// TREE-61: two references go at the same time; the one left alone sees what the other did.
MODEL(end_alone_model, unshared_last_holder) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> seen{0};
    auto* child = ::new (roost::seam::allocate_frame(sizeof(written))) written(*root, seen);
    check(child->attach(child_kind::idle) == roost::detail::attached::yes, "attached");
    child->retain();
    roost::seam::thread holder([child] {
        child->note.set(7);
        child->release();
    });
    go(*child);
    holder.join();
    check(seen.get() == 7, "TREE-61: the holder's write came first");
    check(!root->has_members(), "TREE-61: nothing is left at the parent");
}

// TREE-61: a walker that stands on the node keeps it until it has left.
MODEL(end_alone_model, unshared_against_a_raise) {
    ref root = make_root();
    probe& mine = *make_child(*root).release_to_caller();
    roost::seam::thread canceller([root] { root->cancel(); });
    go(mine);
    canceller.join();
    check(!root->has_members(), "TREE-61: nothing is left at the parent");
}

// TREE-57, TREE-20, TREE-29: two last children of a closing parent without other holders: it drains once, when both are
// destroyed, and goes.
MODEL(end_alone_model, last_children_of_a_closing_parent) {
    ref root = make_root(probe::quiet);
    roost::seam::atomic<std::uint32_t> drains{0};
    roost::seam::plain<int> first_gone{0};
    roost::seam::plain<int> second_gone{0};
    {
        ref middle = make_child(*root, child_kind::working);
        middle->on_drained = [&] {
            check(first_gone.get() == 1 && second_gone.get() == 1, "TREE-29: a drain sees the end of every child");
            drains.fetch_add(1, roost::seam::mo::relaxed);
        };
        written& one = make_written(*middle, first_gone);
        written& two = make_written(*middle, second_gone);
        one.note.set(1);
        two.note.set(1);
        one.release();
        two.release();
        middle->close_and_leave();
        probe* last = middle.release_to_caller();
        last->release();
        roost::seam::thread other([&one] { end(one); });
        end(two);
        other.join();
    }
    check(drains.load(roost::seam::mo::relaxed) == 1, "TREE-20: drained once");
    check(!root->has_work() && !root->has_members(), "TREE-57: nothing is left at the root");
}

// TREE-57, TREE-29: a thread that sees that the last child has left sees that it is destroyed.
MODEL(end_alone_model, observer_of_the_last_child) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> gone{0};
    written& child = make_written(*root, gone);
    child.note.set(1);
    child.release();
    roost::seam::thread other([&child] { end(child); });
    if (!root->has_work()) {
        check(gone.get() == 1, "TREE-29: no work means the child is gone");
    }
    other.join();
}

}  // namespace
