#pragma once

// The state of one series of a metric. The handles of the series and its family share it.
//
// id  operation              order    pairs  carries                          fails in
// S1  gauge: load, CAS       seq_cst  -      nothing but the number           (no model: one word, and a loop)
// S2  gauge: store           seq_cst  -      nothing but the number           (no model: one word)

#include <roost/base/atomic.hpp>
#include <roost/base/detail/fine_histogram.hpp>
#include <roost/base/detail/thread_counter.hpp>
#include <roost/base/wall_clock.hpp>
#include <roost/observe/buckets.hpp>
#include <roost/observe/exemplar.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// The last exemplar of a counter or bucket. Empty until one is kept.
struct kept_exemplar {
    std::array<char, 64> trace{};
    std::array<char, 32> span{};
    std::uint8_t trace_size = 0;
    std::uint8_t span_size = 0;
    double value = 0;
    double at = 0;  // seconds since 1970

    void set(const metrics::exemplar& of, double what) noexcept;
    [[nodiscard]] bool is_set() const noexcept { return trace_size != 0 || span_size != 0; }
};

struct series {
    std::vector<std::string> values;  // of the labels, valid UTF-8
};

struct counter_series : series {
    thread_counter count;
    small_mutex lock;  // of last
    kept_exemplar last;

    void keep(const metrics::exemplar& of, std::uint64_t value) noexcept;
};

struct gauge_series : series {
    void set(double v) noexcept { bits.store(std::bit_cast<std::uint64_t>(v), mo::seq_cst); }  // S2
    void add(double v) noexcept {
        std::uint64_t seen = bits.load(mo::seq_cst);  // S1
        std::uint64_t next = 0;
        do {
            next = std::bit_cast<std::uint64_t>(std::bit_cast<double>(seen) + v);
        } while (!bits.compare_exchange_weak(seen, next, mo::seq_cst, mo::seq_cst));  // S1
    }
    [[nodiscard]] double value() const noexcept { return std::bit_cast<double>(bits.load(mo::seq_cst)); }  // S1

    atomic<std::uint64_t> bits{0};
};

// Each exported bucket has an exemplar. A thread does not wait to write one: while another thread writes, it drops its own.
struct histogram_series : series {
    histogram_series(const metrics::buckets& how, std::size_t parts);

    void record(double value) noexcept { all.record(units_of(value)); }
    void record(double value, const metrics::exemplar& of) noexcept;
    [[nodiscard]] std::uint64_t units_of(double value) const noexcept {
        const double units = value * per_unit;
        if (!(units > 0)) {  // also if it is not a number
            return 0;
        }
        return units < 1.8e19 ? static_cast<std::uint64_t>(units + 0.5) : ~std::uint64_t(0);
    }

    fine_histogram all;
    double per_unit;  // 1 / resolution
    std::vector<double> bounds;
    small_mutex lock;  // of exemplars
    std::vector<kept_exemplar> exemplars;  // one per bound, and one above
};

}  // namespace roost::inline ROOST_ABI::detail
