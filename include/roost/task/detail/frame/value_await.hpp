#pragma once

// What co_await with_value(...) runs.

#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/value_region.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// A base, so that the value outlives a task that was not begun, and its arguments.
template <class V>
struct value_holder {
    V held;
};

template <class T, class V, transfer Mode>
class value_await final : private value_holder<V>, public boundary_await<value_await<T, V, Mode>, T, Mode> {
    using boundary = boundary_await<value_await, T, Mode>;

public:
    // Takes the task after the value was moved: if moving throws, the caller still owns the task.
    value_await(promise_base& me, task<T>& t, const void* key, V& value, site where) noexcept(moves_quietly)
        : value_holder<V>{std::move(value)}, boundary(me, task_access::release_frame(t)), key_(key), where_(where) {}
    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        if (this->is_cancelled()) {
            return this->unwind();
        }
        region_ = &value_region::make(this->me().region(), where_, key_, &this->held);
        return this->begin(*region_);
    }

private:
    friend class boundary_link<value_await, T>;
    static constexpr bool moves_quietly = std::is_nothrow_move_constructible_v<V>;
    next_step ended(ending how, reason&) noexcept {
        std::exchange(region_, nullptr)->leave_for_good();
        return this->pass_on(how);
    }

    const void* key_;
    site where_;
    value_region* region_ = nullptr;
};

template <class T, class V>
class [[nodiscard]] value_call {
public:
    value_call(const void* key, V value, task<T> t, site where) noexcept(std::is_nothrow_move_constructible_v<V>)
        : key_(key), value_(std::move(value)), task_(std::move(t)), where_(where) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] value_await<T, V, Mode> in_task(promise_base& me) && {
        return value_await<T, V, Mode>(me, task_, key_, value_, where_);
    }

private:
    const void* key_;
    V value_;
    task<T> task_;
    site where_;
};

}  // namespace roost::inline ROOST_ABI::detail
