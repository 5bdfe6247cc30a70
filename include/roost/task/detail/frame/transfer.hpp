#pragma once

// How control passes from one frame to the next without growing the stack.
//
// direct   await_suspend returns the next handle, and the compiler always turns that into a tail call (clang).
// counted  await_suspend returns the next handle, and the compiler may turn that into a tail call: g++ does at -O2, not at -O1
//          or -Og, and no macro says which. So at least every 32nd transfer of a region goes through the loop, where the stack
//          is empty again. Right at every level, and one decrement per start and end of a frame.
// bounce   await_suspend leaves the next handle with the thread's runner and returns; the loop in runner.cpp resumes it (g++
//          without optimisation or with a sanitizer, where a tail call is never made).
//
// All kinds of code can be linked into one program: the mode is part of the awaiters' types, and the loop serves all.
// ROOST_SYMMETRIC_TRANSFER=0|1 overrides the choice between bounce and the others.

#include <roost/base/atomic.hpp>
#include <roost/base/reason.hpp>
#include <roost/task/detail/frame/slice.hpp>
#include <roost/task/detail/job/job_meter.hpp>

#include <coroutine>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if !defined(ROOST_SYMMETRIC_TRANSFER)
#if defined(__clang__)
#define ROOST_SYMMETRIC_TRANSFER 1
#elif defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ROOST_SYMMETRIC_TRANSFER 1
#else
#define ROOST_SYMMETRIC_TRANSFER 0
#endif
#endif

namespace roost::inline ROOST_ABI::detail {

class job_core;
class burial;
class job_core;
class promise_base;
class region;

enum class transfer { bounce, counted, direct };
#if !ROOST_SYMMETRIC_TRANSFER
inline constexpr transfer this_transfer = transfer::bounce;
#elif defined(__clang__)
inline constexpr transfer this_transfer = transfer::direct;
#else
inline constexpr transfer this_transfer = transfer::counted;
#endif

// A reason on its way to the loop, which takes it. It has no destructor, so a thread's runner needs none, and reading the
// runner needs no check whether it was constructed.
class passed_reason {
public:
    constexpr passed_reason() noexcept = default;
    passed_reason(const passed_reason&) = delete;
    passed_reason& operator=(const passed_reason&) = delete;
    passed_reason& operator=(reason why) noexcept {
        static_cast<void>(take());
        if (why) {
            ::new (static_cast<void*>(place_)) reason(std::move(why));
            full_ = true;
        }
        return *this;
    }
    [[nodiscard]] explicit operator bool() const noexcept { return full_; }
    [[nodiscard]] reason take() noexcept {
        if (!full_) {
            return reason();
        }
        full_ = false;
        reason& kept = *std::launder(reinterpret_cast<reason*>(place_));
        reason taken = std::move(kept);
        std::destroy_at(&kept);
        return taken;
    }

private:
    alignas(reason) unsigned char place_[sizeof(reason)] = {};
    bool full_ = false;
};

// While a body runs inside another one's: the state that the outer body's loop finds when it continues.
class run_inside {
public:
    run_inside* below;
    job_core* outer;  // null: a job that has ended
    job_core* entered;
    std::coroutine_handle<> next;
    promise_base* unwinding;
};

// One per thread: which body runs here, and what the frame that has just suspended asks the loop to do next. Aligned, because a
// store of `current` and `entered` that crosses two cache lines makes each run of a body 10 ns slower.
class alignas(64) runner {
public:
    [[nodiscard]] static runner& of_this_thread() noexcept { return thread_value<runner, runner>::get(); }

    std::coroutine_handle<> next;  // resume this one
    promise_base* ended = nullptr;  // this frame is at its end, and its waiter is a boundary
    promise_base* unwinding = nullptr;  // this frame is cancelled: destroy it, and continue with its waiter
    passed_reason why;  // of unwinding; empty: the reason of the frame's region
    job_core* current = nullptr;  // null also when the job has ended and its loop has not
    job_core* entered = nullptr;  // whose run() is the innermost on this stack: `current`, or a body that waits for it

    run_inside* inside = nullptr;  // bodies further down on this stack, innermost first

    // Of bodies that run a child inside the await for it (task/detail/job/deferred_await.hpp).
    job_core* joined = nullptr;  // the innermost one waits for this
    job_core* joining = nullptr;  // the same until it begins
    bool joined_ended = false;  // it has ended; its waiter does the rest
    std::uint16_t depth = 0;  // how many such bodies are on this stack

    detail::slice slice;  // of `current`

    // Of frames that are destroyed (task/detail/frame/burial.hpp).
    burial* buried = nullptr;  // the innermost one on this stack
    region* grave = nullptr;  // where they are meanwhile; null: not made yet
    std::uint16_t dropping = 0;  // generators and frames that were never started, on this stack
    promise_base* to_drop = nullptr;  // when there is room

    measured_thread measured;  // last: the others stay on two lines
};

#if defined(ROOST_SEAM_NATIVE)
static_assert(std::is_trivially_destructible_v<runner>);
#endif

void bounce_to(std::coroutine_handle<> next) noexcept;
// The frame is at its end, and its waiter is a boundary. The frame is destroyed and the boundary called, by the loop or here.
void frame_ended(promise_base& frame) noexcept;
[[nodiscard]] std::coroutine_handle<> end_frame(promise_base& frame) noexcept;

// The return type of an await_suspend that passes control on.
template <transfer Mode>
struct transfer_to;

template <>
struct transfer_to<transfer::direct> {
    using result = std::coroutine_handle<>;
    static result frame(std::coroutine_handle<> next) noexcept { return next; }
    static result bounced(std::coroutine_handle<> next) noexcept { return next; }
    static result none() noexcept { return std::noop_coroutine(); }
    // Always inline: the result depends on the compiler mode of the calling code.
    [[gnu::always_inline]] static result ended(promise_base& frame) noexcept {
#if defined(__clang__) && __clang_major__ < 19  // may touch the frame afterwards: docs/compilers.md
        frame_ended(frame);
        return none();
#else
        return end_frame(frame);
#endif
    }
};

template <>
struct transfer_to<transfer::counted> {
    using result = std::coroutine_handle<>;
    static result frame(std::coroutine_handle<> next) noexcept { return next; }
    // Through the loop, which empties the stack.
    static result bounced(std::coroutine_handle<> next) noexcept {
        bounce_to(next);
        return none();
    }
    static result none() noexcept { return std::noop_coroutine(); }
    static result ended(promise_base& frame) noexcept { return end_frame(frame); }
};

template <>
struct transfer_to<transfer::bounce> {
    using result = void;
    static result frame(std::coroutine_handle<> next) noexcept { bounce_to(next); }
    static result bounced(std::coroutine_handle<> next) noexcept { bounce_to(next); }
    static result none() noexcept {}
    static result ended(promise_base& frame) noexcept { frame_ended(frame); }
};

}  // namespace roost::inline ROOST_ABI::detail
