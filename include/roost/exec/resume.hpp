#pragma once

#include <roost/exec/executor.hpp>

#include <concepts>
#include <coroutine>

// Where and how an awaiter resumes a coroutine of any type.
//
// A promise may have
//   executor_ref get_executor() const noexcept;     the executor that resumes it
//   void resume_from_wait() noexcept;               resumes it (a Roost task sets the current job first)
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

}  // namespace roost::inline ROOST_ABI::ext
