#pragma once

// co_await shield(budget, t): runs t, and delays cancellation from outside until the budget is spent. For cleanup and for
// hand-overs that must not stop half way.
//
// A shield can be entered at any time, also in a cancelled job. Inside, awaits, timeouts and scopes work as usual, and outer
// deadlines do not count. When the budget is spent, a cancel of the outer job takes effect inside. Abort takes effect inside
// at once. Leaving is not a checkpoint: a value or an error arrives even if the job was cancelled meanwhile.

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/inner_region.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

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
        return shield_await<T, Mode>(me, task_.release_frame(), budget_, where_);
    }

private:
    task<T> task_;
    duration budget_;
    site where_;
};

}  // namespace detail

// With duration::max() as the budget only abort ends it.
template <class Rep, class Period, class T>
[[nodiscard]] detail::shield_call<T> shield(std::chrono::duration<Rep, Period> budget, task<T> t,
                                            std::source_location where = std::source_location::current()) noexcept {
    return detail::shield_call<T>(detail::saturated(budget), std::move(t), where);
}

template <class Rep, class Period, class A>
    requires detail::waitable<A>
[[nodiscard]] auto shield(std::chrono::duration<Rep, Period> budget, A&& a,
                          std::source_location where = std::source_location::current()) {
    return shield(budget, roost::as_task(std::forward<A>(a)), where);
}

}  // namespace roost::inline ROOST_ABI
