#pragma once

// The time of day, for log lines and reports. Not for waiting: it jumps when the machine's clock is set.

#include <roost/base/config.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace roost::inline ROOST_ABI::ext {

using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;

// Returns the time of day. Async-signal-safe.
[[nodiscard]] wall_time wall_now() noexcept;

// Writes UTC with milliseconds in ISO 8601: "2026-11-17T19:09:46.123Z". Returns the text inside `to`. Allocates nothing.
// Clamps years to 0000 to 9999.
inline constexpr std::size_t wall_text_size = 24;
std::string_view write_wall_time(wall_time t, char (&to)[wall_text_size]) noexcept;

}  // namespace roost::inline ROOST_ABI::ext
