#pragma once

// The awaiter of what never suspends and is no checkpoint: returns a value that was there when the await began.

#include <roost/base/config.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T>
class [[nodiscard]] ready_await {
public:
    explicit ready_await(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
    [[nodiscard]] bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    [[nodiscard]] T await_resume() noexcept(std::is_nothrow_move_constructible_v<T>) { return std::move(value_); }

private:
    T value_;
};

}  // namespace roost::inline ROOST_ABI::detail
