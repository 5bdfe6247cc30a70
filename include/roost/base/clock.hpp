#pragma once

#include <roost/base/detail/monotonic.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI {

// Monotonic time. Reading it goes through the seam (`now()` in base/atomic.hpp) or through a timer service.
using duration = std::chrono::nanoseconds;
using time_point = detail::monotonic::time_point;

// The deadline of a wait without a deadline.
inline constexpr time_point no_deadline = time_point::max();

namespace ext {

// Returns start + d, saturated: a far deadline becomes no_deadline and never wraps. A NaN returns the earliest time point.
template <class Rep, class Period>
[[nodiscard]] constexpr time_point deadline_after(time_point start, std::chrono::duration<Rep, Period> d) noexcept {
    using exact = std::chrono::duration<long double, std::nano>;
    const long double target = static_cast<long double>(start.time_since_epoch().count()) + exact(d).count();
    if (target >= static_cast<long double>(time_point::max().time_since_epoch().count())) {
        return no_deadline;
    }
    if (!(target > static_cast<long double>(time_point::min().time_since_epoch().count()))) {  // or not a number
        return time_point::min();
    }
    return start + std::chrono::duration_cast<duration>(d);
}

}  // namespace ext

// The clock of time_point is in this namespace. So argument-dependent lookup finds deadline_after() in all other namespaces.
namespace detail {
using ext::deadline_after;
}

}  // namespace roost::inline ROOST_ABI
