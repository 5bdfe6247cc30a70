// Latencies in buckets that are at most 1.6 % wide, so that a run of any length needs the same memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bench {

class latency_histogram {
public:
    void add(std::int64_t ns) {
        auto const value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
        ++buckets_[index_of(value)];
        ++count_;
        max_ = std::max(max_, value);
    }

    void add(latency_histogram const& other) {
        for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
        count_ += other.count_;
        max_ = std::max(max_, other.max_);
    }

    // The upper end of the bucket in which that part of all latencies ends, in nanoseconds.
    [[nodiscard]] std::uint64_t percentile(double part) const {
        auto const wanted = static_cast<std::uint64_t>(part * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            seen += buckets_[i];
            if (seen > wanted) return std::min(upper_end_of(i), max_);
        }
        return max_;
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::uint64_t max() const { return max_; }

private:
    static constexpr unsigned fine_bits = 6;   // 64 buckets per power of two
    static constexpr std::size_t fine = std::size_t{1} << fine_bits;

    static std::size_t index_of(std::uint64_t value) {
        if (value < fine) return value;
        unsigned const shift = static_cast<unsigned>(std::bit_width(value)) - 1 - fine_bits;
        return (shift + 1) * fine + ((value >> shift) & (fine - 1));
    }

    static std::uint64_t upper_end_of(std::size_t index) {
        if (index < fine) return index;
        std::size_t const shift = index / fine - 1;
        return ((fine + index % fine + 1) << shift) - 1;
    }

    std::array<std::uint64_t, (64 - fine_bits + 1) * fine> buckets_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace bench
