#pragma once

#include <roost/tree/token.hpp>

#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI::ext {

// One unit of a node's work, for code that is no coroutine: a thread, a C callback, a queue. The node does not drain while the
// lease is held. Move-only; copy() is explicit. Returning the last unit posts the coroutines that wait for the drain. A
// coroutine without an executor resumes inside that call.
class lease {
public:
    lease() noexcept = default;
    // Returns an empty lease if the node is closing. A stop does not close a node.
    [[nodiscard]] static lease try_take(const node& from) noexcept {
        return from && detail::tree_access::core_of(from).try_enter() ? lease(&detail::tree_access::core_of(from)) : lease();
    }

    lease(lease&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    lease& operator=(lease&& other) noexcept {
        if (this != &other) {
            give_back();
            node_ = std::exchange(other.node_, nullptr);
        }
        return *this;
    }
    ~lease() { give_back(); }

    // Returns a second lease, also while the node is closing: this lease already holds a unit.
    [[nodiscard]] lease copy() const noexcept {
        if (node_ != nullptr) {
            node_->enter();
        }
        return lease(node_);
    }
    void give_back() noexcept {
        if (detail::node* held = std::exchange(node_, nullptr)) {
            held->leave();
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
    // As in token; an empty lease returns false.
    [[nodiscard]] bool stop_requested() const noexcept {
        return node_ != nullptr && (node_->is_stopping() || node_->is_gone());
    }
    [[nodiscard]] bool cancel_requested() const noexcept { return node_ != nullptr && node_->cancel_requested(); }
    [[nodiscard]] bool is_cancelled() const noexcept { return node_ != nullptr && node_->is_cancelled(); }
    [[deprecated("use is_cancelled()")]] [[nodiscard]] bool should_stop_now() const noexcept { return is_cancelled(); }
    [[nodiscard]] roost::level level() const noexcept {
        return node_ != nullptr ? node_->level_now() : roost::level::running;
    }
    [[nodiscard]] token observe() const noexcept { return node_ != nullptr ? token(*node_) : token(); }

private:
    friend struct detail::tree_access;
    explicit lease(detail::node* held) noexcept : node_(held) {
        if (held != nullptr) {
            held->note_lease();
        }
    }
    detail::node* node_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::ext

inline roost::ext::lease roost::detail::tree_access::adopt_lease(node& from) noexcept { return ext::lease(&from); }
