#pragma once

#include <roost/base/time_limit.hpp>
#include <roost/shutdown/detail/wait.hpp>

// What one waits for: the end of a node's work, or the request to stop. Both can be awaited by any coroutine type, blocked on
// by a thread, and waited for with a deadline.

namespace roost::inline ROOST_ABI {

// Resolves when the node is stopped and no work is left in its subtree; whoever sees that sees what the work did. Once
// resolved, it stays so. An unresolved one keeps the node going: it can still be stopped by an ancestor.
//
//   co_await s.shut_down();       s.shut_down().wait_blocking();       if (!c.wait_blocking(deadline)) s.cancel();
//
// Resumes: on the coroutine's executor, or on the thread that ended the work, after every lock has been left.
// Not for use by several threads at once; copies are independent.
class shutdown_completion {
public:
    using operation = detail::shutdown_operation;

    explicit shutdown_completion(detail::shutdown_node& n) noexcept : node_(detail::pinned_node::pin(n)) {}

    // Looks; no waiting.
    [[nodiscard]] bool is_resolved() noexcept {
        if (node_ && node_->is_stopping()) {
            node_->settle();
            if (node_->is_complete()) {
                resolve();
            }
        }
        return !node_;
    }

    // The operation belongs to this object and tells it; a temporary's stands on its own.
    [[nodiscard]] operation wait() & noexcept { return operation(node_, detail::wait_for::completion, &node_); }
    [[nodiscard]] operation wait() && noexcept { return operation(std::move(node_), detail::wait_for::completion); }
    [[nodiscard]] operation operator co_await() & noexcept { return wait(); }
    [[nodiscard]] operation operator co_await() && noexcept { return std::move(*this).wait(); }

    void wait_blocking() noexcept { static_cast<void>(wait_blocking(no_deadline)); }
    // Returns false when the deadline passed.
    bool wait_blocking(time_limit deadline) noexcept {
        if (node_ && !detail::wait_in_thread_for(*node_, detail::wait_for::completion, deadline)) {
            return false;
        }
        resolve();
        return true;
    }

private:
    void resolve() noexcept { node_.reset(); }

    detail::pinned_node node_;  // empty: resolved
};

// Resolves as soon as stop is latched on the node, by whatever way, or nobody is left who could. Does not ask for it, waits
// for no work, and keeps nothing going.
class shutdown_notice {
public:
    using operation = detail::stop_operation;

    explicit shutdown_notice(detail::shutdown_node& n) noexcept : node_(node_ref<detail::shutdown_node>::share(n)) {}

    [[nodiscard]] bool is_resolved() const noexcept { return node_->is_terminal(); }
    [[nodiscard]] operation wait() const noexcept { return operation(node_); }
    [[nodiscard]] operation operator co_await() const noexcept { return wait(); }
    void wait_blocking() const noexcept { static_cast<void>(wait_blocking(no_deadline)); }
    bool wait_blocking(time_limit deadline) const noexcept {
        return detail::wait_in_thread_for(*node_, detail::wait_for::stop, deadline);
    }

private:
    node_ref<detail::shutdown_node> node_;
};

}  // namespace roost::inline ROOST_ABI
