// A node that is found by its number while it ends.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/detail/node_ids.hpp>
#include <roost/tree/visit.hpp>

#include "model_node.hpp"

namespace {

using roost::detail::child_kind;
using roost::detail::node_ids;
using roost::testing::check;
using namespace model_node;

void end(roost::detail::node& n) {
    if (!n.end_alone(0)) {
        n.close_and_leave();
    }
}

// OBS-104: a node that was given a number is found whole or not at all, also if it is the last of its holders that ends it.
MODEL(node_ids_model, find_against_end) {
    ref root = make_root();
    probe& mine = *make_child(*root, child_kind::working).release_to_caller();
    const std::uint64_t id = node_ids::of(mine);
    mine.release();  // only its own unit is left
    roost::seam::thread finder([root, id] {
        const roost::detail::node_ref<> found = node_ids::find(id);
        check(!found || found->parent() == root.get(), "OBS-104: what is found is whole");
    });
    end(mine);
    finder.join();
    check(!node_ids::find(id), "OBS-104: it is gone");
    check(!root->has_members(), "OBS-104: nothing is left at the parent");
}

// OBS-104: a walker gives the number while the node ends.
MODEL(node_ids_model, given_against_end) {
    ref root = make_root();
    probe& mine = *make_child(*root, child_kind::working).release_to_caller();
    mine.release();
    roost::seam::thread visitor([root] {
        std::uint64_t id = 0;
        roost::observe::visit(*root, 2, [&](const roost::observe::node_description& d) {
            if (d.depth == 1) {
                id = node_ids::of(*d.target);
            }
        });
        const roost::detail::node_ref<> found = node_ids::find(id);
        check(!found || found->parent() == root.get(), "OBS-104: what is found is whole");
    });
    end(mine);
    visitor.join();
    check(!root->has_members(), "OBS-104: nothing is left at the parent");
    check(node_ids::size() == 0, "OBS-104: nothing is left in the tables");
}

// OBS-104: the same at the end of a node without work.
MODEL(node_ids_model, find_against_unshared_end) {
    ref root = make_root();
    probe& mine = *make_child(*root).release_to_caller();
    const std::uint64_t id = node_ids::of(mine);
    roost::seam::thread finder([root, id] {
        const roost::detail::node_ref<> found = node_ids::find(id);
        check(!found || found->parent() == root.get(), "OBS-104: what is found is whole");
    });
    if (!roost::detail::node_access::end_unshared(mine)) {
        mine.release();
    }
    finder.join();
    check(!node_ids::find(id) && !root->has_members(), "OBS-104: it is gone");
}

}  // namespace
