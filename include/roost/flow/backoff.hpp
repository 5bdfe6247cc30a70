#pragma once

// How long to wait before the next attempt: grows from the first delay up to a limit, and is spread at random so that many
// who failed together don't come back together.

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace roost::inline ROOST_ABI {

class backoff {
public:
    // No wait at all.
    constexpr backoff() noexcept = default;
    constexpr explicit backoff(duration first) noexcept : first_(first), longest_(first * 64) {}

    constexpr backoff& factor(double by) noexcept { return factor_ = by, *this; }
    constexpr backoff& longest(duration limit) noexcept { return longest_ = limit, *this; }
    // 0: exactly the delay; 1: anything between nothing and the delay.
    constexpr backoff& jitter(double share) noexcept { return jitter_ = std::clamp(share, 0.0, 1.0), *this; }

    // Before attempt n + 1, without the spread; n counts from 1.
    [[nodiscard]] constexpr duration delay(std::uint32_t n) const noexcept {
        if (first_ == duration::zero()) {
            return std::min(first_, longest_);
        }
        double d = static_cast<double>(first_.count());
        const double most = static_cast<double>(longest_.count());
        double power = factor_;
        for (std::uint32_t left = n == 0 ? 0 : n - 1; left != 0 && d < most; left /= 2) {
            d *= left % 2 != 0 ? power : 1.0;
            power *= power;
        }
        return d >= most ? longest_ : duration(static_cast<duration::rep>(d));
    }
    // The same with the spread.
    [[nodiscard]] duration next(std::uint32_t n) const noexcept {
        const duration whole = delay(n);
        if (jitter_ == 0.0) {
            return whole;
        }
        const double random = static_cast<double>(random_u64() >> 11U) * 0x1.0p-53;
        return duration(static_cast<duration::rep>(static_cast<double>(whole.count()) * (1.0 - jitter_ * random)));
    }

private:
    duration first_ = duration::zero();
    duration longest_ = duration::zero();
    double factor_ = 2.0;
    double jitter_ = 0.0;
};

}  // namespace roost::inline ROOST_ABI
