#include <roost/observe/buckets.hpp>

#include <roost/base/error.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI::metrics {

buckets::buckets(std::vector<double> bounds, double resolution) : bounds_(std::move(bounds)), resolution_(resolution) {
    if (bounds_.size() > most) {
        throw error(errc::refused, "a histogram has at most " + std::to_string(most) + " buckets; these are " +
                                       std::to_string(bounds_.size()));
    }
    double before = 0;
    for (const double bound : bounds_) {
        if (!std::isfinite(bound) || bound <= before) {
            throw error(errc::refused, "the bounds of buckets are finite, positive and increasing; " +
                                           std::to_string(bound) + " after " + std::to_string(before) + " is not");
        }
        before = bound;
    }
    if (!std::isfinite(resolution) || resolution <= 0) {
        throw error(errc::refused,
                    "the resolution of buckets is a positive number; " + std::to_string(resolution) + " is not");
    }
}

buckets buckets::seconds() {
    return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100};
}

buckets buckets::bytes() { return exponential(64, 4, 13).resolution(1); }

buckets buckets::exponential(double first, double factor, std::size_t count) {
    std::vector<double> bounds;
    for (double bound = first; bounds.size() < count && bounds.size() <= most; bound *= factor) {
        bounds.push_back(bound);
    }
    return buckets(std::move(bounds));
}

}  // namespace roost::inline ROOST_ABI::metrics
