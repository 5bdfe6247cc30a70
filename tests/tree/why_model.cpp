// Reasons: a thread that sees the level sees the reason, and it never changes.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/detail/node.hpp>

#include "model_node.hpp"

namespace {

using roost::level;
using roost::reason;
using roost::reason_kind;
using roost::testing::check;
using namespace model_node;

MODEL(why_model, reason_with_level) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    roost::seam::thread other([root] {
        root->stop(reason(reason_kind::shutdown, "first"));
        root->cancel(reason(reason_kind::timeout, "second"));
    });
    if (child->is_cancelled_relaxed()) {
        check(child->why(level::cancel).text() == "second", "TREE-7: the reason is there with the level");
    }
    if (root->is_stopping()) {
        check(root->why(level::stop).text() == "first", "TREE-7: a higher level leaves the lower reason alone");
    }
    other.join();
}

// An own raise against one from above, at the same level: one reason, for ever, and no leak of the other.
MODEL(why_model, own_against_inherited) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    reason_kind other_saw = reason_kind::none;
    roost::seam::thread other([root, child, &other_saw] {
        root->cancel(reason(reason_kind::shutdown, "above"));
        other_saw = child->why(level::cancel).kind();
    });
    child->cancel(reason(reason_kind::timeout, "own"));
    const auto seen = child->why(level::cancel).kind();
    other.join();
    check(other_saw == seen, "TREE-7: everybody sees the same reason");
    check(seen == reason_kind::shutdown || seen == reason_kind::timeout, "TREE-7: one of the two");
    check(child->why(level::cancel).kind() == seen, "TREE-7: and it stays");
}

// The same when the node has a reason of its own for a lower level, which another thread is reading.
MODEL(why_model, lost_link) {
    ref root = make_root(probe::quiet);
    ref child = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    child->stop(reason(reason_kind::shutdown, "mine"));
    roost::seam::thread above([root] { root->cancel(); });
    roost::seam::thread reader([child] { check(child->why(level::stop).text() == "mine", "TREE-7: it stays readable"); });
    child->cancel(reason(reason_kind::timeout, "own"));
    above.join();
    reader.join();
}

// A reader of a node's own level, and of the node at which it was given.
MODEL(why_model, origin_with_level) {
    ref root = make_root(probe::quiet);
    ref middle = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    ref leaf = make_child(*middle, roost::detail::child_kind::idle, probe::quiet);
    roost::seam::thread other([middle] { middle->stop(reason(reason_kind::shutdown, "first")); });
    if (const roost::detail::node* from = leaf->origin(level::stop)) {
        check(from == middle.get(), "TREE-7: the origin is where it was given");
    }
    other.join();
}

// Two own raises at once.
MODEL(why_model, two_own) {
    ref root = make_root(probe::quiet);
    roost::seam::thread other([root] { root->cancel(reason(reason_kind::shutdown, "one")); });
    root->cancel(reason(reason_kind::timeout, "two"));
    const auto seen = root->why(level::cancel).kind();
    other.join();
    check(root->why(level::cancel).kind() == seen, "TREE-7: it stays");
}

// A long climb leaves the origin behind, while a node on its way gets a reason of its own for a higher level.
MODEL_COMPLETE(why_model, known_origin) {
    ref root = make_root(probe::quiet);
    ref upper = make_child(*root, roost::detail::child_kind::idle, probe::quiet);
    ref lower = make_child(*upper, roost::detail::child_kind::idle, probe::quiet);
    ref leaf = make_child(*lower, roost::detail::child_kind::idle, probe::quiet);
    root->cancel(reason(reason_kind::shutdown, "top"));
    roost::seam::thread other([lower] { lower->abort(reason(reason_kind::timeout, "own")); });
    check(leaf->why(level::cancel).text() == "top", "TREE-7: the reason of the node at which it was given");
    check(leaf->origin(level::cancel) == root.get(), "TREE-7: found again where the climb left it");
    other.join();
    check(leaf->why(level::cancel).text() == "top", "TREE-7: and it stays");
    check(leaf->why(level::abort).text() == "own", "TREE-7: another level has its own origin");
    check(lower->why(level::cancel).text() == "top" && lower->why(level::abort).text() == "own", "TREE-7: side by side");
}

}  // namespace
