#pragma once

// co_await sleep_for(50ms), sleep_until(t): suspends on the timers of the task's executor. A time that has passed needs no
// timer. Cancelling the job ends the sleep at once. If the timers are closed, the body ends cancelled with the reason
// `closed`.

#include <roost/exec/timer.hpp>
#include <roost/task/detail/frame/sleep_await.hpp>
#include <roost/task/detail/frame/timers.hpp>
#include <roost/task/task.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI {

template <class Rep, class Period>
detail::sleep_for_call sleep_for(std::chrono::duration<Rep, Period> d) noexcept {
    return detail::sleep_for_call(detail::saturated(d));
}
inline detail::sleep_until_call sleep_until(time_point t) noexcept { return detail::sleep_until_call(t); }

}  // namespace roost::inline ROOST_ABI
