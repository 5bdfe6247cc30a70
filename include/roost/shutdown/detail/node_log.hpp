#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>
#include <roost/tree/level.hpp>

#include <optional>

namespace roost::inline ROOST_ABI::detail {

class node;

// True while a log function is set. Models have no switch: a program-wide variable would be part of every search.
#if defined(ROOST_SEAM_MODEL)
inline constexpr const atomic<bool>* log_switch = nullptr;
#else
extern atomic<bool> is_listened;
inline constexpr const atomic<bool>* log_switch = &is_listened;
#endif
void log_raised(const node& n, level now) noexcept;
void log_complete(const node& n) noexcept;
void log_late_guard(const node& n, site made_at, std::optional<duration> age) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
