// Callbacks: registering and removing against firing.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/callback.hpp>

#include "model_node.hpp"

namespace {

using roost::level;
using roost::token;
using roost::testing::check;
using namespace model_node;

// TREE-40: registering against a cancel of a leaf: exactly one call.
MODEL_COMPLETE(callback_member_model, add_to_leaf) {
    ref root = make_root(probe::quiet);
    ref leaf = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    roost::seam::atomic<std::uint32_t> calls{0};
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        roost::ext::inline_callback watch(token(*leaf), level::cancel,
                                          [&] { calls.fetch_add(1, roost::seam::mo::relaxed); });
        canceller.join();
        check(calls.load(roost::seam::mo::relaxed) == 1,
              "TREE-40: by the cancel or by the constructor, not only at the end");
    }
    check(calls.load(roost::seam::mo::relaxed) == 1, "TREE-40: exactly once");
}

// TREE-41: removing waits for a running callback; afterwards everything it did is visible, and it never runs again.
MODEL_COMPLETE(callback_member_model, remove_waits) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> state{0};
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        roost::ext::inline_callback watch(token(*root), level::cancel, [&] { state.set(state.get() + 1); });
    }
    state.set(state.get() + 10);  // races with the callback unless removal waited
    canceller.join();
    check(state.get() == 10 || state.get() == 11, "TREE-40: at most once");
}

// TREE-42: a callback that removes itself.
MODEL_COMPLETE(callback_member_model, remove_inside) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> calls{0};
    struct holder {
        std::optional<roost::ext::inline_callback<std::function<void()>>> registered;
    };
    auto mine = std::make_unique<holder>();
    holder* raw = mine.get();
    mine->registered.emplace(token(*root), level::stop, std::function<void()>([&calls, raw] {
                                 calls.set(calls.get() + 1);
                                 raw->registered.reset();
                             }));
    roost::seam::thread a([root] { root->stop(); });
    root->cancel();
    a.join();
    check(calls.get() == 1, "TREE-42: once, and gone");
}

// TREE-43: two callbacks that cancel each other's node from two threads.
MODEL_COMPLETE(callback_member_model, mutual_cancel) {
    ref one = make_root(probe::quiet);
    ref two = make_root(probe::quiet);
    roost::ext::inline_callback a(token(*one), level::cancel, [&two] { two->cancel(); });
    roost::ext::inline_callback b(token(*two), level::cancel, [&one] { one->cancel(); });
    roost::seam::thread other([one] { one->cancel(); });
    two->cancel();
    other.join();
    check(one->is_cancelled() && two->is_cancelled(), "TREE-43: both are cancelled");
}

// TREE-40: two raisers, two callbacks of different levels.
MODEL_COMPLETE(callback_member_model, two_levels) {
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> stops{0};
    roost::seam::plain<int> cancels{0};
    roost::ext::inline_callback a(token(*root), level::stop, [&] { stops.set(stops.get() + 1); });
    roost::ext::inline_callback b(token(*root), level::cancel, [&] { cancels.set(cancels.get() + 1); });
    roost::seam::thread other([root] { root->stop(); });
    root->cancel();
    other.join();
    check(stops.get() == 1 && cancels.get() == 1, "TREE-40: each exactly once");
}

// TREE-40: destroying it after its level was reached, before the raise has come to it: it has run all the same.
MODEL_COMPLETE(callback_member_model, destroyed_after_the_level) {
    ref root = make_root(probe::quiet);
    ref leaf = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    roost::seam::atomic<std::uint32_t> calls{0};
    roost::seam::thread canceller([root] { root->cancel(); });
    bool was_reached = false;
    {
        roost::ext::inline_callback watch(token(*leaf), level::cancel,
                                          [&] { calls.fetch_add(1, roost::seam::mo::relaxed); });
        was_reached = leaf->is_cancelled();
    }
    const std::uint32_t when_gone = calls.load(roost::seam::mo::relaxed);
    check(!was_reached || when_gone == 1, "TREE-40: the level was reached, so it has run");
    canceller.join();
    check(calls.load(roost::seam::mo::relaxed) == when_gone, "TREE-41: once it is gone it never runs");
}

}  // namespace
