#include <roost/base/atomic.hpp>

#if defined(ROOST_SEAM_JITTER)

#include <chrono>
#include <thread>

namespace roost::inline ROOST_ABI {
namespace detail {

void jitter() noexcept {
    const std::uint64_t dice = random_u64();
    if ((dice & 15U) != 0) {
        return;
    }
    if ((dice & 4095U) == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds((dice >> 12U) % 50));
    } else if ((dice & 255U) < 64) {
        std::this_thread::yield();
    } else {
        for (std::uint64_t spins = (dice >> 12U) % 64; spins > 0; --spins) {
            spin_hint();
        }
    }
}

}  // namespace detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_JITTER
