#pragma once

#include <roost/shutdown/detail/access.hpp>
#include <roost/shutdown/detail/provenance.hpp>
#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/tree/token.hpp>

#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

// A unit of work in flight. The node and every ancestor complete only after the guard is destroyed. A guard does not delay
// stop, and stop does not end it. A copy is a second guard; a move transfers it. Any thread may destroy it. Creating or
// destroying one costs one or two atomic operations while the node has other guards. The first and last guard also update
// the ancestors. Not thread-safe: one guard object is used by one thread at a time.
class [[nodiscard]] guard {
public:
    // An empty guard: no unit of work.
    guard() noexcept = default;
    guard(const guard& other) noexcept : guard(other ? entered(*other.node_, other.site()) : guard()) {}
    guard(guard&& other) noexcept : node_(std::exchange(other.node_, nullptr)), slot_(std::exchange(other.slot_, nullptr)) {}
    guard& operator=(guard other) noexcept {
        std::swap(node_, other.node_);
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~guard() {
        if (node_ != nullptr) {
            leave(*node_, slot_);
        }
    }

    // Ends the unit of work now; the guard is empty afterwards.
    void reset() noexcept {
        if (node_ != nullptr) {
            leave(*std::exchange(node_, nullptr), std::exchange(slot_, nullptr));
        }
    }

    // Returns true if it holds a unit of work.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
    // Returns the site where the guard was created. Unknown if no site was recorded.
    [[nodiscard]] roost::site site() const noexcept { return slot_ != nullptr ? slot_->site() : roost::site(); }
    [[deprecated("use site()")]] [[nodiscard]] roost::site made_at() const noexcept { return site(); }
    [[nodiscard]] token observe() const noexcept { return node_ != nullptr ? token(*node_) : token(); }

    // Returns true if both guards belong to the same node.
    friend bool operator==(const guard& a, const guard& b) noexcept { return a.node_ == b.node_; }

private:
    friend struct detail::shutdown_access;
    guard(detail::shutdown_node& of, roost::site where, detail::thread_guards& mine) noexcept
        : node_(&of), slot_((of.enter_guard(mine), detail::record_guard(mine, &of, where))) {}
    guard(detail::shutdown_node* of, detail::guard_slot* slot) noexcept : node_(of), slot_(slot) {}
    [[nodiscard]] static guard entered(detail::shutdown_node& of, roost::site where) noexcept {
        auto&& mine = detail::guards_of_this_thread();
        detail::count_guard(mine);
        return guard(of, where, mine);
    }
    static void leave(detail::shutdown_node& from, detail::guard_slot* slot) noexcept {
        if (from.is_stopping()) [[unlikely]] {
            log_late(from, slot);
        }
        if (slot != nullptr) {
            slot->drop();
        }
        from.leave_guard();
    }
    static void log_late(const detail::shutdown_node& from, const detail::guard_slot* slot) noexcept;

    detail::shutdown_node* node_ = nullptr;
    detail::guard_slot* slot_ = nullptr;
};

inline guard detail::shutdown_access::make_guard(shutdown_node& of, site where) noexcept {
    return guard::entered(of, where);
}
inline guard detail::shutdown_access::make_guard(shutdown_node& of, site where, thread_guards& mine) noexcept {
    return guard(of, where, mine);
}
inline guard detail::shutdown_access::adopt_guard(shutdown_node& of, site where, thread_guards& mine) noexcept {
    return guard(&of, record_guard(mine, &of, where));
}

}  // namespace roost::inline ROOST_ABI
