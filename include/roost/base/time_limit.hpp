#pragma once

// How long a blocking call blocks at most. Takes every form of a time:
//
//   ready.wait_blocking(200ms);                                         from now on
//   ready.wait_blocking(roost::now() + 200ms);                          until a deadline
//   ready.wait_blocking(std::chrono::steady_clock::now() + 200ms);      the same
//
// A time of the wall clock does not compile: that clock can be set back.

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <chrono>
#include <type_traits>

namespace roost::inline ROOST_ABI {

class time_limit {
public:
    constexpr explicit(false) time_limit(time_point at) noexcept : at_(at) {}
    template <class Rep, class Period>
    explicit(false) time_limit(std::chrono::duration<Rep, Period> from_now) noexcept
        : at_(deadline_after(now(), from_now)) {}
    // The clock of time_point and the standard library's monotonic clock have the same epoch.
    template <class Duration>
    constexpr explicit(false) time_limit(std::chrono::time_point<std::chrono::steady_clock, Duration> at) noexcept
        : at_(deadline_after(time_point(), at.time_since_epoch())) {}
    template <class Clock, class Duration>
        requires(!std::is_same_v<Clock, detail::monotonic> && !Clock::is_steady)
    explicit(false) time_limit(std::chrono::time_point<Clock, Duration>) noexcept {
        static_assert(Clock::is_steady,
                      "a deadline is a time of a monotonic clock: pass a duration (200ms), or roost::now() + 200ms");
    }

    constexpr explicit(false) operator time_point() const noexcept { return at_; }

private:
    time_point at_{};
};

}  // namespace roost::inline ROOST_ABI
