#pragma once

#include <roost/shutdown/detail/provenance.hpp>
#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/tree/token.hpp>

#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

// Work in progress: completion of the node and of everything above waits until it is gone. Says nothing about stop. A copy is
// a second guard, moving moves it; may be dropped on any thread. Making and dropping one costs one atomic operation each.
class [[nodiscard]] guard {
public:
    // Guards nothing.
    guard() noexcept = default;
    guard(detail::shutdown_node& of, site where) noexcept : node_(&of) {
        of.enter_guard();
        slot_ = detail::record_guard(&of, where);
    }
    // Takes over a unit that the caller has entered.
    [[nodiscard]] static guard adopt(detail::shutdown_node& of, site where) noexcept {
        return guard(&of, detail::record_guard(&of, where));
    }

    guard(const guard& other) noexcept : node_(other.node_) {
        if (node_ != nullptr) {
            node_->enter_guard();
            slot_ = detail::record_guard(node_, other.made_at());
        }
    }
    guard(guard&& other) noexcept : node_(std::exchange(other.node_, nullptr)), slot_(std::exchange(other.slot_, nullptr)) {}
    guard& operator=(guard other) noexcept {
        std::swap(node_, other.node_);
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~guard() { reset(); }

    void reset() noexcept {
        if (node_ == nullptr) {
            return;
        }
        if (node_->is_stopping()) [[unlikely]] {
            tell_late();
        }
        if (slot_ != nullptr) {
            slot_->drop();
        }
        slot_ = nullptr;
        std::exchange(node_, nullptr)->leave_guard();
    }

    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
    // Unknown when nothing was recorded.
    [[nodiscard]] site made_at() const noexcept { return slot_ != nullptr ? slot_->where() : site(); }
    [[nodiscard]] token observe() const noexcept { return node_ != nullptr ? token(*node_) : token(); }

    // Same node, not same guard.
    friend bool operator==(const guard& a, const guard& b) noexcept { return a.node_ == b.node_; }

private:
    guard(detail::shutdown_node* of, detail::guard_slot* slot) noexcept : node_(of), slot_(slot) {}
    void tell_late() const noexcept;

    detail::shutdown_node* node_ = nullptr;
    detail::guard_slot* slot_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI
