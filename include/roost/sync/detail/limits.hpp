#pragma once

// Constants of the sync layer. Models shrink them, because bugs hide at the edges.

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

#if defined(ROOST_SEAM_MODEL)
inline constexpr int lock_spins = 0;
inline constexpr int park_spins = 0;
inline constexpr int acquire_spins = 0;
inline constexpr std::uint8_t thread_patience = 1;
#else
inline constexpr int lock_spins = 64;      // inside a wait list's lock: a handful of instructions
inline constexpr int park_spins = 64;      // before a thread asks the kernel to sleep
inline constexpr int acquire_spins = 128;  // before a blocking acquire queues up
// How often a parked thread that has been woken may be overtaken before it is handed what it waits for.
inline constexpr std::uint8_t thread_patience = 200;
#endif

}  // namespace roost::inline ROOST_ABI::detail
