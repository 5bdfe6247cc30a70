#pragma once

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI {

// Sets whether newcomers to a mutex or semaphore may overtake waiters.
//
//   hand_off   while a parked thread is first in the queue, running threads may overtake it for at most 200 releases
//   barging    the same without a bound, and for try_ forms too
//
// A coroutine that is first in the queue is never overtaken: a release hands it the permits.
enum class fairness : std::uint8_t { hand_off, barging };

}  // namespace roost::inline ROOST_ABI
