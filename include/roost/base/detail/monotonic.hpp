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

}  // namespace roost::inline ROOST_ABI::detail
