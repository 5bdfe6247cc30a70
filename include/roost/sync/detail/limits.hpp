#pragma once

// Constants of the sync layer. Models shrink them, because bugs hide at the edges.

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

#if defined(ROOST_SEAM_MODEL)
inline constexpr int lock_spins = 0;
inline constexpr int park_spins = 0;
inline constexpr int acquire_spins = 0;
inline constexpr std::int32_t spin_most = 0;
inline constexpr std::int32_t spin_least = 0;
inline constexpr std::uint32_t spin_probe_every = 1;
inline constexpr int longest_pause = 1;
inline constexpr std::uint8_t thread_patience = 1;
#else
inline constexpr int lock_spins = 128;  // until the holder of a wait list's lock must have lost its processor
inline constexpr int park_spins = 64;   // looks at a condition before a thread queues up
inline constexpr int acquire_spins = 128;  // looks at a pool before a thread queues up
// Nanoseconds that a thread spins before it sleeps: about what sleeping and being woken costs.
inline constexpr std::int32_t spin_most = 40'000;
inline constexpr std::int32_t spin_least = 1'000;
inline constexpr std::uint32_t spin_probe_every = 16;
inline constexpr int longest_pause = 64;  // between two looks at permits
// How often a parked thread that has been woken may be overtaken before it is handed what it waits for.
inline constexpr std::uint8_t thread_patience = 200;
#endif

}  // namespace roost::inline ROOST_ABI::detail
