// Counting a subtree while its work ends, every interleaving at small scope, on the code that ships.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/visit.hpp>

#include "model_node.hpp"

namespace {

using roost::testing::check;
using namespace model_node;

// TREE-25, TREE-29: a thread that counts no work in the subtree sees everything the work did, wherever it learned so.
MODEL(visit_model, no_work_left) {
    ref root = make_root();
    {
        ref leaf = make_child(*root);
        leaf->enter();
        roost::seam::plain<int> cargo{0};
        roost::seam::thread worker([leaf, &cargo] {
            cargo.set(7);
            leaf->leave();
        });
        const std::size_t left = root->work_in_subtree();
        check(left <= 1, "TREE-25: a number it had");
        if (left == 0) {
            check(cargo.get() == 7, "TREE-29: no work is left, and what it did is seen");
        }
        worker.join();
    }
    check(root->work_in_subtree() == 0, "TREE-25: exact at rest");
}

}  // namespace
