#pragma once

// A handle to a node of the tree. Jobs, scopes, shutdown nodes, pools and components are nodes. A handle is one counted
// pointer: it keeps the node's memory alive, not its work.
//
//   node connection = server.tree_node();
//   connection.cancel();                           everything below it has the level when this returns
//   owned_scope requests(connection, on, "requests");

#include <roost/base/assert.hpp>
#include <roost/tree/detail/access.hpp>
#include <roost/tree/detail/node.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {

class node {
public:
    // A handle that refers to nothing. Its level is `running`, its texts are empty, and its calls do nothing.
    node() noexcept = default;
    // Public: a view (a job, a scope, a pool) is an argument of functions that take a handle.
    explicit(false) node(detail::node& target) noexcept : target_(detail::node_ref<>::share(target)) {}
    // For a function that visit() calls. Returns a handle that refers to nothing if the node is being freed.
    [[nodiscard]] static node try_share(detail::node& target) noexcept {
        node made;
        made.target_ = detail::node_ref<>::try_share(target);
        return made;
    }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(target_); }
    friend bool operator==(const node&, const node&) noexcept = default;

    // Returns the node above. For a root, returns a handle that refers to nothing.
    [[nodiscard]] node parent() const noexcept {
        detail::node* const above = target_ ? target_->parent() : nullptr;
        return above == nullptr ? node() : node(*above);
    }
    // Valid while the handle, or another one of the same node, exists.
    [[nodiscard]] std::string_view name() const noexcept { return target_ ? target_->name() : std::string_view(); }
    [[nodiscard]] roost::site site() const noexcept { return target_ ? target_->made_at() : roost::site(); }
    [[nodiscard]] roost::level level() const noexcept { return target_ ? target_->level_now() : roost::level::running; }
    // Returns the reason of the current level; empty while the node runs.
    [[nodiscard]] roost::reason reason() const noexcept { return target_ ? target_->why(level()) : roost::reason(); }
    [[nodiscard]] bool stop_requested() const noexcept { return target_ && target_->is_stopping(); }
    [[nodiscard]] bool cancel_requested() const noexcept { return target_ && target_->cancel_requested(); }
    [[nodiscard]] bool is_cancelled() const noexcept { return target_ && target_->is_cancelled(); }
    // Returns the units of work in the subtree. Exact only while the subtree does not change. Walks the subtree.
    [[nodiscard]] std::size_t work() const noexcept { return target_ ? target_->work_in_subtree() : 0; }

    // Each raises the level of the node and of everything below it. The level is set everywhere when the call returns.
    // Thread-safe.
    void stop(roost::reason why = roost::reason::plain_kind(reason_kind::requested)) const noexcept {
        raise(roost::level::stop, std::move(why));
    }
    void cancel(roost::reason why = roost::reason::plain_kind(reason_kind::requested)) const noexcept {
        raise(roost::level::cancel, std::move(why));
    }
    void abort(roost::reason why = roost::reason::plain_kind(reason_kind::requested)) const noexcept {
        raise(roost::level::abort, std::move(why));
    }

private:
    friend struct detail::tree_access;
    void raise(roost::level to, roost::reason why) const noexcept {
        if (target_) {
            target_->raise(to, std::move(why));
        }
    }

    detail::node_ref<> target_;
};
static_assert(sizeof(node) == sizeof(void*));

inline detail::node& detail::tree_access::core_of(const roost::node& of) noexcept {
    if (!of.target_) [[unlikely]] {
        panic("node", {}, roost::site(), "a handle that refers to nothing was used as a node of the tree");
    }
    return *of.target_;
}

}  // namespace roost::inline ROOST_ABI
