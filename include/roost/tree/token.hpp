#pragma once

#include <roost/tree/node.hpp>

namespace roost::inline ROOST_ABI {

// May observe a node, may not raise it. Copyable, usable from any thread; keeps the node's memory, not its life, and is no
// work. A default-made token belongs to nothing and never says stop.
class token {
public:
    token() noexcept = default;
    explicit token(node& observed) noexcept : node_(node_ref<>::share(observed)) {}

    // Asked to cancel, whether or not an ignore guard holds it up.
    [[nodiscard]] bool cancel_requested() const noexcept { return node_ && node_->cancel_requested(); }
    // Cancel has effect: end now.
    [[nodiscard]] bool should_stop_now() const noexcept { return node_ && node_->should_stop_now(); }
    // Asked to stop or more: take no new work.
    [[nodiscard]] bool stop_requested() const noexcept { return node_ && (node_->is_stopping() || node_->is_gone()); }
    [[nodiscard]] roost::level level() const noexcept { return node_ ? node_->level_now() : roost::level::running; }
    // Why it is at that level; empty while it runs.
    [[nodiscard]] roost::reason reason() const noexcept { return node_ ? node_->why(level()) : roost::reason(); }

    [[nodiscard]] time_point deadline() const noexcept { return node_ ? node_->deadline() : no_deadline; }
    // Until the deadline, never below zero; duration::max() without one. For the time-outs of calls to other services. By the
    // clock of the executor that the observed job or scope runs on, virtual time included; when that has ended, by now().
    [[nodiscard]] duration remaining() const noexcept;
    [[nodiscard]] duration remaining(time_point at) const noexcept {
        const time_point limit = deadline();
        if (limit == no_deadline) {
            return duration::max();
        }
        return limit <= at ? duration::zero() : limit - at;
    }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(node_); }
    // Null for a token of nothing.
    [[nodiscard]] node* target() const noexcept { return node_.get(); }
    friend bool operator==(const token&, const token&) noexcept = default;

private:
    node_ref<> node_;
};

}  // namespace roost::inline ROOST_ABI
