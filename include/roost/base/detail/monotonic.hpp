#pragma once

#include <roost/base/config.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI::detail {

// The clock of time_point, as std::chrono wants it. Reading it goes through the seam.
struct monotonic {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<monotonic>;
    static constexpr bool is_steady = true;
};

// See base/clock.hpp. It is here because argument-dependent lookup finds it beside the clock of its arguments.
template <class Rep, class Period>
[[nodiscard]] constexpr monotonic::time_point deadline_after(monotonic::time_point start,
                                                             std::chrono::duration<Rep, Period> d) noexcept {
    using time_point = monotonic::time_point;
    using exact = std::chrono::duration<long double, std::nano>;
    const long double target = static_cast<long double>(start.time_since_epoch().count()) + exact(d).count();
    if (target >= static_cast<long double>(time_point::max().time_since_epoch().count())) {
        return time_point::max();
    }
    if (!(target > static_cast<long double>(time_point::min().time_since_epoch().count()))) {  // or not a number
        return time_point::min();
    }
    return start + std::chrono::duration_cast<monotonic::duration>(d);
}

}  // namespace roost::inline ROOST_ABI::detail
