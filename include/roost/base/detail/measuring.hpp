#pragma once

// What lower layers measure for the metrics of the library (roost/observe/metrics.hpp). Off by default; then each
// place that could measure costs one relaxed load.
//
// id  operation              order    pairs  carries                                        fails in
// M1  is_on: load            relaxed  -      nothing: M3 says whether there is a histogram  (floor)
// M2  set: exchange          seq_cst  -      nothing but the switch                         (no model: an own word)
// M3  times: load            seq_cst  M4     the histogram                                  (no model: written once, before the switch)
// M4  set: CAS               seq_cst  M3     the histogram                                  (no model: as M3)
// M5  count: fetch_add, load seq_cst  -      nothing but the number                         (no model: rare)

#include <roost/base/atomic.hpp>
#include <roost/base/detail/fine_histogram.hpp>

#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// Durations in nanoseconds.
enum class timed : unsigned char { run_delay, body, timer_lateness, lock_wait };
inline constexpr std::size_t timed_kinds = 4;

// Rare events, which are counted always.
enum class rare_event : unsigned char { stall, late_start, ignored_cancel, dropped_event };
inline constexpr std::size_t rare_events = 4;

class measuring {
public:
    [[nodiscard]] static bool is_on() noexcept {
#if defined(ROOST_SEAM_MODEL)
        return false;  // one scheduling point less in every model
#else
        return on_.load(mo::relaxed);  // M1
#endif
    }
    // Switches measuring on or off. Returns true if it was on before. The first call with true allocates the histograms. Throws
    // std::bad_alloc. Thread-safe.
    static bool set(bool on);
    // Returns the histogram; null before measuring was on for the first time.
    [[nodiscard]] static fine_histogram* times(timed what) noexcept {
        return times_[static_cast<std::size_t>(what)].load(mo::seq_cst);  // M3
    }
    static void record(timed what, duration took, std::uint64_t times_of_it = 1) noexcept {
        if (fine_histogram* all = times(what)) {
            all->record(took > duration(0) ? static_cast<std::uint64_t>(took.count()) : 0, times_of_it);
        }
    }
    static void count(rare_event what, std::uint64_t n = 1) noexcept {
        counts_[static_cast<std::size_t>(what)].fetch_add(n, mo::seq_cst);  // M5
    }
    [[nodiscard]] static std::uint64_t count_of(rare_event what) noexcept {
        return counts_[static_cast<std::size_t>(what)].load(mo::seq_cst);  // M5
    }

private:
    static atomic<bool> on_;
    static atomic<fine_histogram*> times_[timed_kinds];  // never freed: any thread may be recording
    static atomic<std::uint64_t> counts_[rare_events];
};

}  // namespace roost::inline ROOST_ABI::detail
