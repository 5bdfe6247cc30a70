#pragma once

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::observe {

// What each guard records for report(). docs/guide/shutdown.md has the measured cost.
enum class guard_tracking : std::uint8_t {
    off,     // nothing; reports show "unknown site"
    // The creation site (the default). The age counts from when the guard is first noticed. A report and the stop of a root
    // notice every guard. Each 256th guard of a thread notices some guards of that thread. Reports show "at least".
    sites,
    coarse,  // the site, and the creation time to a few milliseconds
    exact,  // the site, and the exact creation time
};

// Sets what guards created from now on record. Returns the previous mode. Thread-safe.
guard_tracking set_guard_tracking(guard_tracking mode) noexcept;
[[nodiscard]] guard_tracking current_guard_tracking() noexcept;

}  // namespace roost::inline ROOST_ABI::observe
