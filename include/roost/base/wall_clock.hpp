#pragma once

// The time of day, for log lines and reports. Nothing waits by it: it jumps when the machine's clock is set.

#include <roost/base/config.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace roost::inline ROOST_ABI {

using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;

// Async-signal-safe.
[[nodiscard]] wall_time wall_now() noexcept;

// Writes UTC with milliseconds, as ISO 8601 has it: "2026-11-17T19:09:46.123Z". Returns the text inside `to`. Allocates nothing.
// Years outside 0000 to 9999 are written as the nearest of these.
inline constexpr std::size_t wall_text_size = 24;
std::string_view write_wall_time(wall_time t, char (&to)[wall_text_size]) noexcept;

}  // namespace roost::inline ROOST_ABI
