#pragma once

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI {

// Sets whether newcomers to a mutex or semaphore may overtake waiters.
//
//   hand_off   they may not, but running threads may overtake a parked thread for at most 200 releases
//   barging    running threads and try_ forms may overtake parked threads without bound
//
// Either way permits are handed to a coroutine that is first in the queue.
enum class fairness : std::uint8_t { hand_off, barging };

}  // namespace roost::inline ROOST_ABI
