#pragma once

// Constants of the sync layer. Models use small ones, so that a short search reaches the limits.

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
inline constexpr int lock_spins = 128;  // after that the holder of a wait list's lock has lost its processor
inline constexpr int park_spins = 64;   // checks of a condition before a thread queues
inline constexpr int acquire_spins = 128;  // checks of a pool before a thread queues
// Nanoseconds that a thread spins before it sleeps: about the cost of sleeping and being woken.
inline constexpr std::int32_t spin_most = 40'000;
inline constexpr std::int32_t spin_least = 1'000;
inline constexpr std::uint32_t spin_probe_every = 16;
inline constexpr int longest_pause = 64;  // between two checks of permits
// For how many releases a parked thread may be overtaken before the permits are handed to it.
inline constexpr std::uint8_t thread_patience = 200;
#endif

}  // namespace roost::inline ROOST_ABI::detail
