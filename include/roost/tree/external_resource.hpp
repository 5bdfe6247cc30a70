#pragma once

#include <roost/tree/detail/external_node.hpp>
#include <roost/tree/node.hpp>

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::ext {

// Work outside of Roost: a request to another service, an operation of an event loop, a child process. It is a named unit of
// its parent's work until this handle is destroyed. If the parent is cancelled before the work completes, on_cancel runs
// once, on the cancelling thread. It is not posted, because the thread that would run it may be blocked in the operation. So
// on_cancel must be short (notify the event loop; post). It must not take a lock that a cancelling thread may hold. For
// anything longer use a `callback`. An exception from on_cancel goes to the failure sink. If on_cancel runs, try_complete()
// returns false. If try_complete() has returned true, on_cancel never runs.
class external_resource {
public:
    external_resource() noexcept = default;
    // Returns an empty handle if the parent is closing. If the parent is cancelled, on_cancel has run when this returns.
    // Throws std::bad_alloc.
    template <std::invocable<> OnCancel>
    [[nodiscard]] static external_resource open(const node& parent, node_name name, OnCancel&& on_cancel,
                                                site made_at = std::source_location::current()) {
        using block = detail::external_node_of<std::decay_t<OnCancel>>;
        void* memory = seam::allocate_frame(sizeof(block));
        block* made = nullptr;
        try {
            made =
                ::new (memory) block(detail::tree_access::core_of(parent), name, made_at, std::forward<OnCancel>(on_cancel));
        } catch (...) {
            seam::deallocate_frame(memory, sizeof(block));
            throw;
        }
        if (made->attach(detail::child_kind::working) == detail::attached::refused) {
            made->discard();
            return {};
        }
        if (made->is_cancelled()) {
            made->fire();
        }
        return external_resource(made);
    }
    external_resource(external_resource&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    external_resource& operator=(external_resource&& other) noexcept {
        if (this != &other) {
            reset();
            node_ = std::exchange(other.node_, nullptr);
        }
        return *this;
    }
    ~external_resource() { reset(); }

    // Called when the operation has completed. Returns true if on_cancel has not run and never will: act on the completion.
    // Returns false if it was cancelled first, or completed before.
    [[nodiscard]] bool try_complete() noexcept { return node_ != nullptr && node_->try_complete(); }
    // Ends the unit of work. If the parent is cancelled and the operation has not completed, on_cancel has run when this
    // returns. Blocks until a running on_cancel has returned, unless on_cancel itself calls this.
    void reset() noexcept {
        if (detail::external_node* held = std::exchange(node_, nullptr)) {
            held->close_handle();
        }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

private:
    explicit external_resource(detail::external_node* held) noexcept : node_(held) {}
    detail::external_node* node_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::ext
