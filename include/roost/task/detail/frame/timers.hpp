#pragma once

// Timers and durations for the awaits of a frame.

#include <roost/base/clock.hpp>
#include <roost/exec/timer.hpp>
#include <roost/task/detail/frame/promise_base.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI::detail {

// Returns the timers of the frame's executor. Ends the program, naming the executor, if it has none.
[[nodiscard]] timer_service& timers_of(const promise_base& frame) noexcept;

// Converts d; out of range becomes the largest or smallest duration.
template <class Rep, class Period>
[[nodiscard]] constexpr duration saturated(std::chrono::duration<Rep, Period> d) noexcept {
    const time_point from_zero = deadline_after(time_point(), d);
    return from_zero.time_since_epoch();
}

}  // namespace roost::inline ROOST_ABI::detail
