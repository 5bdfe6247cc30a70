#pragma once

#include <roost/base/atomic.hpp>

#include <cstdint>

// The one cancellable operation that a body is suspended in, where a canceller of the body finds it.
//
// The body, around an await:
//     wait_slot::suspension here(slot, &awaiter, &try_cancel_thunk);     // on the stack of await_suspend
//     awaiter.await_suspend(...);                                        // from here on it may be woken and resumed elsewhere
//     if (here.commit()) { /* cancel came meanwhile and this call claimed the wait: only this thread resumes, unwind */ }
//     ...
//     slot.disarm();                                                     // first thing after it was resumed by a wake
// Nothing but `here` is touched after the body may have been resumed and committed; disarm() waits for that. A canceller,
// after the level was raised:   if (slot.cancel()) { /* this call claimed the wait: post the unwinding */ }
//
// `try_cancel` as in the contract of awaiters: if it returns true, no other thread resumes the handle, and the caller owns
// it.
//
// The regions of tasks (task/detail/job/region.hpp) have a slot of their own: its one word also carries peeked and posted, and fits
// into a job's 128 bytes. This slot serves coroutines of any type, which may be resumed on the stack of await_suspend itself.

namespace roost::inline ROOST_ABI::detail {

class wait_slot {
public:
    using cancel_function = bool (*)(void* operation) noexcept;

    class suspension {
    public:
        // Requires that the operation has not started and is visible to no other thread.
        suspension(wait_slot& slot, void* operation, cancel_function try_cancel) noexcept;
        suspension(const suspension&) = delete;
        suspension& operator=(const suspension&) = delete;
        // Called when the operation is under way. Returns true if it is cancelled and this call claimed the wait.
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

    // Called by the resumed body. When it returns, no canceller is or will be inside try_cancel of the operation.
    void disarm() noexcept;
    // Called by a canceller, any number of times and at any time while the slot exists; sticky. Returns true if this call
    // claimed the wait.
    [[nodiscard]] bool cancel() noexcept;
    // Returns true if cancel() was called.
    [[nodiscard]] bool is_cancelled() const noexcept;

private:
    atomic<std::uint32_t> state_{0};
    plain<void*> operation_{nullptr};
    plain<cancel_function> try_cancel_{nullptr};
    suspension* suspending_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
