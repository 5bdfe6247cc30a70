#pragma once

// The bounds that a histogram is exported with, and the unit in which it keeps its values.

#include <roost/base/config.hpp>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace roost::inline ROOST_ABI::metrics {

// A histogram keeps whole multiples of its resolution, in fine buckets of about 3 % width. The bounds only decide what is
// exported: so a value that is within 3 % of a bound may be counted on the other side of it.
class buckets {
public:
    static constexpr std::size_t most = 60;
    static constexpr double nanosecond = 1e-9;

    // Throws error(refused) if the bounds are not finite, positive and increasing, or more than 60. Throws error(refused) if
    // the resolution is not finite and positive. Throws std::bad_alloc.
    explicit(false) buckets(std::initializer_list<double> bounds) : buckets(std::vector<double>(bounds)) {}
    explicit buckets(std::vector<double> bounds, double resolution = nanosecond);
    // Returns bounds from 100 microseconds to 100 seconds, three per power of ten.
    [[nodiscard]] static buckets seconds();
    // Returns bounds from 64 to 2^30, each four times the one before, with resolution 1.
    [[nodiscard]] static buckets bytes();
    // Returns `count` bounds, each `factor` times the one before. Throws error(refused) as the constructor.
    [[nodiscard]] static buckets exponential(double first, double factor, std::size_t count);

    // Returns the same bounds for values that are kept as multiples of `unit`. Requires that the sum of all values stays
    // below 2^64 units: 584 years in nanoseconds, 16 exabytes in bytes.
    [[nodiscard]] buckets resolution(double unit) const { return buckets(bounds_, unit); }

    [[nodiscard]] const std::vector<double>& bounds() const& noexcept { return bounds_; }
    [[nodiscard]] double resolution() const noexcept { return resolution_; }
    friend bool operator==(const buckets&, const buckets&) = default;

private:
    std::vector<double> bounds_;
    double resolution_;
};

}  // namespace roost::inline ROOST_ABI::metrics
