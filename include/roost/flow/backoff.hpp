#pragma once

// How long to wait before the next attempt. The delay grows from the first one up to a limit, by default 64 times the first.
// With jitter a random share is subtracted, so that clients that failed together do not retry together.

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace roost::inline ROOST_ABI {

class backoff {
public:
    // Every delay is zero.
    constexpr backoff() noexcept = default;
    constexpr explicit backoff(duration first) noexcept
        : first_(at_least_zero(first)), longest_(first_ > duration::max() / 64 ? duration::max() : first_ * 64) {}

    // Multiplies the delay after each attempt; 2 by default. Here and below, negative values and NaN are treated as zero.
    constexpr backoff& factor(double by) noexcept { return factor_ = by > 0.0 ? by : 0.0, *this; }
    constexpr backoff& longest(duration limit) noexcept { return longest_ = at_least_zero(limit), *this; }
    // The share of each delay that is random. With 0 nothing is random; with 1 the wait is between zero and the delay. At
    // most 1.
    constexpr backoff& jitter(double share) noexcept { return jitter_ = share > 0.0 ? std::min(share, 1.0) : 0.0, *this; }

    // Returns the delay between attempts n and n + 1, without jitter. n counts from 1.
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
    // As delay(), with jitter.
    [[nodiscard]] duration next(std::uint32_t n) const noexcept {
        const duration whole = delay(n);
        if (jitter_ == 0.0) {
            return whole;
        }
        const double random = static_cast<double>(seam::random_u64() >> 11U) * 0x1.0p-53;
        return duration(static_cast<duration::rep>(static_cast<double>(whole.count()) * (1.0 - jitter_ * random)));
    }

private:
    static constexpr duration at_least_zero(duration d) noexcept { return std::max(d, duration::zero()); }

    duration first_ = duration::zero();
    duration longest_ = duration::zero();
    double factor_ = 2.0;
    double jitter_ = 0.0;
};

}  // namespace roost::inline ROOST_ABI
