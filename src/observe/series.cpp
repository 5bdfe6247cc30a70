#include <roost/observe/detail/series.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

void kept_exemplar::set(const metrics::exemplar& of, double what) noexcept {
    trace_size = static_cast<std::uint8_t>(of.trace_id().copy(trace.data(), trace.size()));
    span_size = static_cast<std::uint8_t>(of.span_id().copy(span.data(), span.size()));
    value = what;
    at = std::chrono::duration<double>(wall_now().time_since_epoch()).count();
}

void counter_series::keep(const metrics::exemplar& of, std::uint64_t value) noexcept {
    if (lock.try_lock()) {
        last.set(of, static_cast<double>(value));
        lock.unlock();
    }
}

histogram_series::histogram_series(const metrics::buckets& how, std::size_t parts)
    : all(parts), per_unit(1 / how.resolution()), bounds(how.bounds()), exemplars(bounds.size() + 1) {}

void histogram_series::record(double value, const metrics::exemplar& of) noexcept {
    record(value);
    const auto above = static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
    if (lock.try_lock()) {
        exemplars[above].set(of, value);
        lock.unlock();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
