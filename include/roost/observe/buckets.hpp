#pragma once

// The bounds under which a histogram is exported, and the unit in which it keeps its values.

#include <roost/base/config.hpp>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace roost::inline ROOST_ABI::metrics {

// A histogram keeps whole multiples of its resolution, in buckets of about 3 % width; the bounds only say what is exported. A
// value counts for a bound that is less than 3 % below it or above it.
class buckets {
public:
    static constexpr std::size_t most = 60;
    static constexpr double nanosecond = 1e-9;

    // Throws error(refused) if the bounds are not finite, positive and increasing, or if there are more than 60.
    explicit(false) buckets(std::initializer_list<double> bounds) : buckets(std::vector<double>(bounds)) {}
    explicit buckets(std::vector<double> bounds, double resolution = nanosecond);
    // From 100 microseconds to 100 seconds, three per power of ten.
    [[nodiscard]] static buckets seconds();
    // From 64 to 2^30, one per two powers of two; whole numbers.
    [[nodiscard]] static buckets bytes();
    // count bounds, each `factor` times the one before.
    [[nodiscard]] static buckets exponential(double first, double factor, std::size_t count);

    // Returns the same bounds for values that are kept as multiples of `unit`. The sum of all values has to be below 2^64
    // units: with nanoseconds that is 584 years, with bytes of resolution 1 it is 16 exabytes.
    [[nodiscard]] buckets resolution(double unit) const { return buckets(bounds_, unit); }

    [[nodiscard]] const std::vector<double>& bounds() const& noexcept { return bounds_; }
    [[nodiscard]] double resolution() const noexcept { return resolution_; }
    friend bool operator==(const buckets&, const buckets&) = default;

private:
    std::vector<double> bounds_;
    double resolution_;
};

}  // namespace roost::inline ROOST_ABI::metrics
