#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>

// The one cancellable operation a body is suspended in, reachable for whoever cancels the body.
//
// The body, around an await:
//     wait_slot::suspension here(slot, &awaiter, &try_cancel_thunk);     // on the stack of await_suspend
//     awaiter.await_suspend(...);                                        // from here on it may be woken and resumed elsewhere
//     if (here.commit()) { /* cancel came meanwhile and this call claimed the wait: nobody else resumes, unwind */ }
//     ...
//     slot.disarm();                                                     // first thing after it was resumed by a wake
// Nothing but `here` is touched after the body may have been resumed and committed; disarm() waits for that.
// A canceller, after the level was raised:   if (slot.cancel()) { /* this call claimed the wait: post the unwinding */ }
//
// `try_cancel` as in the contract of awaiters: true = nobody will resume the handle, the caller owns it now.

namespace roost::inline ROOST_ABI::detail {

class wait_slot {
public:
    using cancel_function = bool (*)(void* operation) noexcept;

    class suspension {
    public:
        // The operation has not started yet, and nobody else sees it.
        suspension(wait_slot& slot, void* operation, cancel_function try_cancel) noexcept;
        suspension(const suspension&) = delete;
        suspension& operator=(const suspension&) = delete;
        // The operation is under way. True: cancelled, and this call claimed the wait.
        [[nodiscard]] bool commit() noexcept;

    private:
        friend class wait_slot;
        wait_slot& slot_;
        std::uint32_t thread_;
        bool resumed_inside_ = false;  // the body was resumed on this very stack, and slot_ may be gone
    };

    constexpr wait_slot() noexcept = default;
    wait_slot(const wait_slot&) = delete;
    wait_slot& operator=(const wait_slot&) = delete;

    // By the resumed body: no canceller is or will be inside try_cancel of the operation when this returns.
    void disarm() noexcept;
    // By a canceller, any number of times and at any time while the slot exists; sticky. True: this call claimed the wait.
    [[nodiscard]] bool cancel() noexcept;
    // The body starts over with a fresh slot (only while nobody can cancel).
    [[nodiscard]] bool is_cancelled() const noexcept;

private:
    atomic<std::uint32_t> state_{0};
    plain<void*> operation_{nullptr};
    plain<cancel_function> try_cancel_{nullptr};
    suspension* suspending_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
