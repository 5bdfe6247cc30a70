#pragma once

#include <roost/tree/node.hpp>

namespace roost::inline ROOST_ABI {

// Observes a node; cannot raise it. Copyable and thread-safe. Keeps the node's memory alive, is no unit of work and does not
// delay the node's end. A default-constructed token refers to nothing and never reports a stop.
class token {
public:
    token() noexcept = default;
    explicit token(const node& observed) noexcept
        : node_(observed ? detail::node_ref<>::share(detail::tree_access::core_of(observed)) : detail::node_ref<>()) {}
    // Public for the same reason as the constructor of node.
    explicit token(detail::node& observed) noexcept : node_(detail::node_ref<>::share(observed)) {}

    // Returns true if a cancel was requested, also while an ignore guard delays it.
    [[nodiscard]] bool cancel_requested() const noexcept { return node_ && node_->cancel_requested(); }
    // Returns true if a cancel has taken effect. The code should end now.
    [[nodiscard]] bool is_cancelled() const noexcept { return node_ && node_->is_cancelled(); }
    [[deprecated("use is_cancelled()")]] [[nodiscard]] bool should_stop_now() const noexcept { return is_cancelled(); }
    // Returns true if stop or a higher level was requested. Also true if the node's last owner is gone. The code should take
    // no new work.
    [[nodiscard]] bool stop_requested() const noexcept { return node_ && (node_->is_stopping() || node_->is_gone()); }
    [[nodiscard]] roost::level level() const noexcept { return node_ ? node_->level_now() : roost::level::running; }
    // Returns the reason of the current level; empty while the node runs.
    [[nodiscard]] roost::reason reason() const noexcept { return node_ ? node_->why(level()) : roost::reason(); }

    [[nodiscard]] time_point deadline() const noexcept { return node_ ? node_->deadline() : no_deadline; }
    // Returns the time until the deadline, at least zero; duration::max() without a deadline. For the time-outs of calls to
    // other services. Uses the clock of the executor that the observed job or scope runs on, such as virtual time. After the
    // end of that job or scope, uses now().
    [[nodiscard]] duration remaining() const noexcept;
    [[nodiscard]] duration remaining(time_point at) const noexcept {
        const time_point limit = deadline();
        if (limit == no_deadline) {
            return duration::max();
        }
        return limit <= at ? duration::zero() : limit - at;
    }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(node_); }
    friend bool operator==(const token&, const token&) noexcept = default;

private:
    friend struct detail::tree_access;

    detail::node_ref<> node_;
};

inline detail::node* detail::tree_access::target_of(const token& of) noexcept { return of.node_.get(); }

}  // namespace roost::inline ROOST_ABI
