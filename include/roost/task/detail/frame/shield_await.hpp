#pragma once

// What co_await shield(...) runs.

#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/frame/timers.hpp>
#include <roost/task/detail/job/inner_region.hpp>
#include <roost/task/task.hpp>

#include <coroutine>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T, transfer Mode>
class shield_await final : public boundary_await<shield_await<T, Mode>, T, Mode>, private shield_region {
    using boundary = boundary_await<shield_await, T, Mode>;

public:
    shield_await(promise_base& me, promise_base& child, duration budget, site where) noexcept
        : boundary(me, child), budget_(budget), where_(where) {}
    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        promise_base& me = this->me();
        if (is_buried(me)) [[unlikely]] {
            return this->unwind();
        }
        const bool needs_timer = budget_ > duration::zero() && budget_ != duration::max();
        enter(me.region(), needs_timer ? &timers_of(me) : nullptr, where_, budget_);
        return this->begin(inside());
    }

private:
    friend class boundary_link<shield_await, T>;
    next_step ended(ending how, reason&) noexcept {
        leave();
        return this->pass_on(how);
    }

    duration budget_;
    site where_;
};

template <class T>
class [[nodiscard]] shield_call {
public:
    shield_call(duration budget, task<T> t, site where) noexcept : task_(std::move(t)), budget_(budget), where_(where) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] shield_await<T, Mode> in_task(promise_base& me) && {
        return shield_await<T, Mode>(me, task_access::release_frame(task_), budget_, where_);
    }

private:
    task<T> task_;
    duration budget_;
    site where_;
};

}  // namespace roost::inline ROOST_ABI::detail
