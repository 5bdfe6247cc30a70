#pragma once

#include <roost/exec/executor.hpp>

#include <concepts>
#include <coroutine>

// Where and how an awaiter resumes a coroutine of any type.
//
// A promise may have
//   executor_ref get_executor() const noexcept;     the executor that resumes it
//   void resume_from_wait() noexcept;               resumes it (a Roost task sets the current job first)
//   bool unwind_from_wait(bool) noexcept;           see unwind_function
// Without the first, the waking thread resumes it, after it has released every lock.

namespace roost::inline ROOST_ABI::ext {

template <class Promise>
concept has_executor = requires(const Promise& p) {
    { p.get_executor() } noexcept -> std::convertible_to<executor_ref>;
};

template <class Promise>
[[nodiscard]] executor_ref executor_of(std::coroutine_handle<Promise> handle) noexcept {
    if constexpr (has_executor<Promise>) {
        return handle.promise().get_executor();
    } else {
        return {};
    }
}

using resume_function = void (*)(void* frame) noexcept;

template <class Promise>
[[nodiscard]] constexpr resume_function resume_function_of() noexcept {
    return +[](void* frame) noexcept {
        auto handle = std::coroutine_handle<Promise>::from_address(frame);
        if constexpr (requires { handle.promise().resume_from_wait(); }) {
            handle.promise().resume_from_wait();
        } else {
            handle.resume();
        }
    };
}

// Called in place of the resume_function, by a wait that was cut short. If the coroutine is cancelled, unwinds it and returns
// true; the awaiter is destroyed then. Returns false, and changes nothing, if the coroutine has to be resumed: a stop or a
// select has ended only its wait. If only_with_its_job is true, also returns false unless the whole job is cancelled: a
// deadline cancels only a part of it.
using unwind_function = bool (*)(void* frame, bool only_with_its_job) noexcept;

// Returns null if the coroutine type cannot be unwound.
template <class Promise>
[[nodiscard]] constexpr unwind_function unwind_function_of() noexcept {
    if constexpr (requires(Promise& p) { p.unwind_from_wait(true); }) {
        return +[](void* frame, bool only_with_its_job) noexcept {
            return std::coroutine_handle<Promise>::from_address(frame).promise().unwind_from_wait(only_with_its_job);
        };
    } else {
        return nullptr;
    }
}

}  // namespace roost::inline ROOST_ABI::ext
