#pragma once

// A histogram of 64-bit values. Recording is wait-free; reading merges the parts of the threads.
//
// Why it is not simpler: a lock makes the threads that record wait for each other and for the reader. One table of atomic numbers
// makes them meet on the cache lines of the common values. So each of the first threads has a part that only it writes, by a
// load and a store; the others share the last part.
//
// Memory: 7.8 kilobytes per part (log_buckets), allocated by the constructor only.
//
// fields   part n, except the last: written by the thread with that thread_index(); the last: by any thread
// I1       a read counts every record that happened before it, once
// I2       the sum that a read returns includes every value that it counts
//
// id  operation                      order    pairs  carries                                fails in
// H1  record, own: loads             relaxed  -      nothing: no other thread writes them    (floor)
// H2  record: sum store, fetch_add   relaxed  -      H3 carries it                          fine_histogram_model: threads_that_share
// H3  record: bucket store           release  H4     the sum                                fine_histogram_model: sum_of_what_is_counted
// H6  record: bucket fetch_add       release  H4     the sum                                fine_histogram_model: sum_of_what_is_counted_shared
// H4  read: bucket load              acquire  H3 H6  the sum                                fine_histogram_model: sum_of_what_is_counted
// H5  read: sum load                 relaxed  -      nothing: H4 says how old it may be     (floor)

#include <roost/base/atomic.hpp>
#include <roost/base/detail/log_buckets.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

// What a read returned, a plain value.
template <class Map = log_buckets>
class basic_distribution {
public:
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
    [[nodiscard]] std::uint64_t in_bucket(std::size_t bucket) const noexcept { return buckets_[bucket]; }
    // Returns the value that the share q, from 0 to 1, of all values does not exceed: the middle of its bucket. 0 if none.
    [[nodiscard]] std::uint64_t quantile(double q) const noexcept {
        const double wanted = std::ceil(q * static_cast<double>(count_));
        std::uint64_t seen = 0;
        std::size_t last = 0;
        for (std::size_t i = 0; i < Map::count; ++i) {
            seen += buckets_[i];
            last = buckets_[i] != 0 ? i : last;
            if (seen != 0 && static_cast<double>(seen) >= wanted) {
                return Map::middle(last);
            }
        }
        return count_ == 0 ? 0 : Map::middle(last);
    }
    // Returns how many values are in buckets whose middle is at most `value`.
    [[nodiscard]] std::uint64_t count_up_to(std::uint64_t value) const noexcept {
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < Map::count && Map::middle(i) <= value; ++i) {
            seen += buckets_[i];
        }
        return seen;
    }
    void merge(const basic_distribution& other) noexcept {
        for (std::size_t i = 0; i < Map::count; ++i) {
            add(i, other.buckets_[i]);
        }
        sum_ += other.sum_;
    }
    void add(std::size_t bucket, std::uint64_t times) noexcept {
        buckets_[bucket] += times;
        count_ += times;
    }
    void add_sum(std::uint64_t more) noexcept { sum_ += more; }

private:
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::array<std::uint64_t, Map::count> buckets_{};
};

template <class Map = log_buckets>
class basic_histogram {
public:
    using distribution = basic_distribution<Map>;

    // `parts` is at least 1. Throws std::bad_alloc.
    explicit basic_histogram(std::size_t parts) : parts_(new part[parts]), last_(parts - 1) {}
    basic_histogram(const basic_histogram&) = delete;
    basic_histogram& operator=(const basic_histogram&) = delete;

    // Counts `value` as often as `times` says: a sample stands for several values.
    void record(std::uint64_t value, std::uint64_t times = 1) noexcept {
        const std::size_t thread = thread_index();
        const std::size_t bucket = Map::index(value);
        if (thread < last_) [[likely]] {
            part& mine = parts_[thread];
            atomic<std::uint64_t>& counted = mine.buckets[bucket];
            const std::uint64_t sum = mine.sum.load(mo::relaxed) + value * times;  // H1
            const std::uint64_t count = counted.load(mo::relaxed) + times;  // H1
            mine.sum.store(sum, mo::relaxed);  // H2
            counted.store(count, mo::release);  // H3
            return;
        }
        parts_[last_].sum.fetch_add(value * times, mo::relaxed);  // H2
        parts_[last_].buckets[bucket].fetch_add(times, mo::release);  // H6
    }
    [[nodiscard]] distribution read() const noexcept {
        distribution all;
        for (std::size_t p = 0; p <= last_; ++p) {
            for (std::size_t i = 0; i < Map::count; ++i) {
                all.add(i, parts_[p].buckets[i].load(mo::acquire));  // H4
            }
            all.add_sum(parts_[p].sum.load(mo::relaxed));  // H5
        }
        return all;
    }

private:
    struct alignas(64) part {
        atomic<std::uint64_t> sum{0};
        atomic<std::uint64_t> buckets[Map::count]{};
    };
    std::unique_ptr<part[]> parts_;
    std::size_t last_;
};

using fine_histogram = basic_histogram<>;
using distribution = fine_histogram::distribution;

}  // namespace roost::inline ROOST_ABI::detail
