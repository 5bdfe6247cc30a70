// External resources: cancel or completion, exactly one acts.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/external_resource.hpp>

#include "model_node.hpp"

namespace {

using roost::ext::external_resource;
using roost::testing::check;
using namespace model_node;

MODEL_COMPLETE(external_resource_model, one_acts) {
    ref root = make_root(probe::quiet);
    roost::seam::atomic<std::uint32_t> acts{0};
    {
        external_resource op =
            external_resource::open(*root, "op", [&] { acts.fetch_add(1, roost::seam::mo::relaxed); }, roost::site());
        roost::seam::thread canceller([root] { root->cancel(); });
        if (op.try_complete()) {
            acts.fetch_add(1, roost::seam::mo::relaxed);
        }
        canceller.join();
    }
    check(acts.load(roost::seam::mo::relaxed) == 1, "TREE-46: exactly one acts");
    check(!root->has_work() && !root->has_members(), "TREE-46: the unit is back");
}

// Opening against cancel: told exactly once (TREE-47).
MODEL_COMPLETE(external_resource_model, open_against_cancel) {
    ref root = make_root(probe::quiet);
    roost::seam::atomic<std::uint32_t> calls{0};
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        external_resource op =
            external_resource::open(*root, "op", [&] { calls.fetch_add(1, roost::seam::mo::relaxed); }, roost::site());
        canceller.join();
    }
    check(calls.load(roost::seam::mo::relaxed) == 1, "TREE-47: exactly once");
}

// Closing the handle waits for a running on_cancel.
MODEL_COMPLETE(external_resource_model, close_waits) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> state{0};
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        external_resource op = external_resource::open(*root, "op", [&] { state.set(state.get() + 1); }, roost::site());
    }
    state.set(state.get() + 10);
    canceller.join();
    check(state.get() == 10 || state.get() == 11, "TREE-46: at most once");
}

// TREE-46: the handle goes because its holder has seen that the parent is cancelled: on_cancel has run, whichever thread was faster.
MODEL_COMPLETE(external_resource_model, closed_after_the_level) {
    ref root = make_root(probe::quiet);
    roost::seam::atomic<std::uint32_t> calls{0};
    bool was_reached = false;
    {
        external_resource op =
            external_resource::open(*root, "op", [&] { calls.fetch_add(1, roost::seam::mo::relaxed); }, roost::site());
        roost::seam::thread canceller([root] { root->cancel(); });
        was_reached = root->is_cancelled();
        op.reset();
        check(!was_reached || calls.load(roost::seam::mo::relaxed) == 1,
              "TREE-46: the parent was cancelled, so on_cancel has run");
        canceller.join();
    }
    check(calls.load(roost::seam::mo::relaxed) <= 1, "TREE-46: at most once");
}

}  // namespace
