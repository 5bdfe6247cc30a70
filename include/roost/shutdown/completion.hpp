#pragma once

#include <roost/base/time_limit.hpp>
#include <roost/shutdown/detail/wait.hpp>

// Two waits on a shutdown node: for the end of its work, and for its stop. Any coroutine type can await them, and a thread can
// block on them, both with or without a deadline.

namespace roost::inline ROOST_ABI {

// Resolves when the node is stopped and its subtree has no work left. The end of that work happens-before the resolution. A
// resolved completion stays resolved. An unresolved completion is an owner of the node: the node can still be stopped.
//
//   co_await s.shut_down();       s.shut_down().wait_blocking();       if (!c.wait_blocking(deadline)) s.cancel();
//
// Resumes: on the coroutine's executor; without one, on the thread that ended the last work, with no lock held.
// Not thread-safe. Copies are independent and may be used by different threads.
class shutdown_completion {
public:
    using operation = detail::shutdown_operation;

    explicit shutdown_completion(detail::shutdown_node& n) noexcept : node_(detail::pinned_node::pin(n)) {}

    // Returns true if it is resolved. Does not block.
    [[nodiscard]] bool is_resolved() noexcept {
        if (node_ && node_->is_stopping()) {
            node_->settle();
            if (node_->is_complete()) {
                resolve();
            }
        }
        return !node_;
    }

    // Returns an awaiter. On an lvalue, the awaiter marks this object as resolved, so this object must outlive it. On an
    // rvalue, the awaiter takes over the node.
    [[nodiscard]] operation wait() & noexcept { return operation(node_, detail::wait_for::completion, &node_); }
    [[nodiscard]] operation wait() && noexcept { return operation(std::move(node_), detail::wait_for::completion); }
    [[nodiscard]] operation operator co_await() & noexcept { return wait(); }
    [[nodiscard]] operation operator co_await() && noexcept { return std::move(*this).wait(); }

    // Blocks the thread until it is resolved.
    void wait_blocking() noexcept { static_cast<void>(wait_blocking(no_deadline)); }
    // Returns true if it is resolved, false if the deadline passed first.
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

// Resolves when stop is requested on the node or on an ancestor. Also resolves when the node can no longer be stopped,
// because its last owner is gone. Does not request a stop, does not wait for work, and does not own the node.
class shutdown_notice {
public:
    using operation = detail::stop_operation;

    explicit shutdown_notice(detail::shutdown_node& n) noexcept : node_(detail::node_ref<detail::shutdown_node>::share(n)) {}

    // Returns true if it is resolved. Does not block.
    [[nodiscard]] bool is_resolved() const noexcept { return node_->is_terminal(); }
    [[nodiscard]] operation wait() const noexcept { return operation(node_); }
    [[nodiscard]] operation operator co_await() const noexcept { return wait(); }
    // Blocks the thread until it is resolved.
    void wait_blocking() const noexcept { static_cast<void>(wait_blocking(no_deadline)); }
    // Returns true if it is resolved, false if the deadline passed first.
    bool wait_blocking(time_limit deadline) const noexcept {
        return detail::wait_in_thread_for(*node_, detail::wait_for::stop, deadline);
    }

private:
    detail::node_ref<detail::shutdown_node> node_;
};

}  // namespace roost::inline ROOST_ABI
