#pragma once

#include <roost/base/clock.hpp>

#include <string>

namespace roost::inline ROOST_ABI {

// Returns a duration as text: "0 ms", "250 ms", "1.25 s", "12.4 s", "90 s", "12.5 min", "30 h". Every text of Roost uses it.
// Shows whole milliseconds below a second, otherwise three digits without trailing zeros. Minutes begin at ten minutes,
// hours at ten hours.
[[nodiscard]] std::string format_duration(duration d);

}  // namespace roost::inline ROOST_ABI
