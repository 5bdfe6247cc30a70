#pragma once

// co_await shield(budget, t): runs t, and delays cancellation from outside until the budget is spent. For cleanup, and for
// hand-offs that must not be interrupted.
//
// A shield can be entered at any time, also in a cancelled job. Inside, awaits, timeouts and scopes work as usual, and outer
// deadlines do not count. When the budget is spent, a cancel of the outer job takes effect inside. Abort takes effect inside
// at once. Leaving is not a checkpoint: a value or an error is delivered even if the job was cancelled by then.

#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/frame/shield_await.hpp>
#include <roost/task/detail/frame/timers.hpp>

#include <chrono>
#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI {

// With duration::max() as the budget, only abort takes effect inside.
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
