#pragma once

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI {

// How much every guard writes down about itself, for report(). docs/guide/shutdown.md has the measured cost.
enum class guard_tracking : std::uint8_t {
    off,     // nothing: reports say "unknown site"
    sites,   // where it was made (the default). Ages count from when it was first noticed: by a report, by the stop of a
             // root, or by every 256th guard of the thread that made it. Reports say "at least".
    coarse,  // where, and since when to within a few milliseconds
    exact,   // where, and since when
};

// For guards made from now on.
void set_guard_tracking(guard_tracking mode) noexcept;
[[nodiscard]] guard_tracking current_guard_tracking() noexcept;

}  // namespace roost::inline ROOST_ABI
