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
using detail::deadline_after;
}  // namespace ext

}  // namespace roost::inline ROOST_ABI
