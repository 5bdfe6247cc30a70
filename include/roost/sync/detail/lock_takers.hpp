#pragma once

// Records which job locked a mutex last, for the report of a job that waits for a mutex it holds itself. Checked builds only,
// and not in models: nothing depends on it. A small table of hashes: a collision loses a report and never makes one.

#include <roost/base/config.hpp>

#include <string_view>

namespace roost::inline ROOST_ABI::detail {

#if ROOST_CHECKED && !defined(ROOST_SEAM_MODEL)
inline constexpr bool notes_lock_takers = true;
#else
inline constexpr bool notes_lock_takers = false;
#endif

// `by` is the job, or null if no job locked it.
void note_lock_taker(const void* lock, const void* by) noexcept;
[[nodiscard]] bool is_lock_taker(const void* lock, const void* by) noexcept;
[[gnu::cold]] void report_locked_twice(std::string_view kind, std::string_view name, std::string_view job) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
