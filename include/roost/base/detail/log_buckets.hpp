#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <roost/base/config.hpp>

namespace roost::inline ROOST_ABI::detail {

// Maps every 64-bit value to one of 976 buckets: 16 per power of two, so a bucket is at most a sixteenth of its values wide, and
// its middle is at most 1/32 (3.1 %) from each of them. Values below 32 have a bucket each.
class log_buckets {
public:
    static constexpr unsigned sub_bits = 4;
    static constexpr std::size_t sub_buckets = std::size_t(1) << sub_bits;
    static constexpr std::size_t count = sub_buckets * (64 - sub_bits + 1);

    [[nodiscard]] static constexpr std::size_t index(std::uint64_t value) noexcept {
        if (value < sub_buckets) {
            return static_cast<std::size_t>(value);
        }
        const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - sub_bits;
        return (shift + 1) * sub_buckets + static_cast<std::size_t>((value >> shift) & (sub_buckets - 1));
    }
    // Returns the smallest value of the bucket.
    [[nodiscard]] static constexpr std::uint64_t lowest(std::size_t bucket) noexcept {
        if (bucket < sub_buckets) {
            return bucket;
        }
        return (sub_buckets + bucket % sub_buckets) << (bucket / sub_buckets - 1);
    }
    // Returns the largest value of the bucket.
    [[nodiscard]] static constexpr std::uint64_t highest(std::size_t bucket) noexcept {
        return bucket + 1 == count ? ~std::uint64_t(0) : lowest(bucket + 1) - 1;
    }
    [[nodiscard]] static constexpr std::uint64_t middle(std::size_t bucket) noexcept {
        return lowest(bucket) + (highest(bucket) - lowest(bucket)) / 2;
    }
};

}  // namespace roost::inline ROOST_ABI::detail
