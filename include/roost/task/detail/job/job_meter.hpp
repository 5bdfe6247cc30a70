#pragma once

// Counts jobs by name and outcome, and samples their times, while measuring is on.
//
// Each of the first threads, by thread_index(), counts in a block of its own; the others share one. A name gets a number at
// its first job, at most 200 names; further names share number 0. A thread keeps the numbers of the literals it used last.
//
// A sampled job has a bit, and its start time in a slot of a small table. A later job may overwrite the slot: that sample is
// lost.
//
// fields   name: text, hash        written under the lock before its number is published (P2), then constant
//          numbers of a block      the thread with that number; the last block: any thread
//
// id  operation                 order    pairs  carries                                   fails in
// P1  find: load                seq_cst  P2     the name                                  (no model: P2 is under a lock)
// P2  add: store                seq_cst  P1     the name                                  (no model: under a lock)
// P3  count, own: load, store   relaxed  -      nothing but the number                    (floor)
// P4  count, shared: fetch_add  relaxed  -      nothing but the number                    (floor)
// P5  read: load                relaxed  -      nothing but the number                    (floor)
// P6  probe: store, load, CAS   seq_cst  -      the time of the job, checked by the CAS   (no model: a lost sample is allowed)
// P7  meter: load, CAS          seq_cst  -      the meter                                 (no model: written once)

#include <roost/base/atomic.hpp>
#include <roost/base/detail/measuring.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

class job_meter;

enum class job_end : unsigned char { completed, failed, cancelled };

// The counters of one thread, or of the threads that share them.
struct alignas(64) job_meter_block {
    static constexpr std::size_t most_names = 200;

    atomic<std::uint64_t> created{0};
    atomic<std::uint64_t> ended[most_names + 1][3]{};
};

// Decides which events of a thread are measured: all while there are few. Above about 4000 a second, it takes a sample. The
// distance between two samples varies. So if two kinds of events alternate, both are measured. Plain; all members begin as
// zero.
class measured_sampler {
public:
    static constexpr std::uint32_t most = 256;  // events between two samples, on average

    // Returns how many events this one stands for, and sets `at` to now. Returns 0 if this event is not measured.
    [[nodiscard]] std::uint32_t due(time_point& at) noexcept {
        if (left_ > 1) [[likely]] {
            --left_;
            return 0;
        }
        return take(at);
    }

private:
    [[gnu::noinline]] std::uint32_t take(time_point& at) noexcept;

    std::uint32_t left_ = 0;  // events until the next sample
    std::uint32_t step_ = 0;  // how many events the next sample stands for
    std::uint32_t interval_ = 0;
    time_point last_{};
};

// What each thread keeps, in its runner. Plain; all members begin as zero.
struct measured_thread {
    struct known_name {
        const char* text;
        std::uint32_t number;
    };

    job_meter_block* block = nullptr;  // null before the first job, and if the block is shared
    measured_sampler bodies;
    measured_sampler delays;
    const char* last_name = nullptr;  // a literal whose jobs end on this thread
    atomic<std::uint64_t>* last_completed = nullptr;  // its number in the block
    std::array<known_name, 8> names{};

    static void add_own(atomic<std::uint64_t>& count) noexcept {
        count.store(count.load(mo::relaxed) + 1, mo::relaxed);  // P3
    }
};

struct job_totals {
    std::uint64_t created = 0;
    std::uint64_t ended = 0;
};

class job_meter {
public:
    static constexpr std::size_t most_names = job_meter_block::most_names;
    static constexpr std::size_t longest_name = 120;

    // Allocates about 200 kilobytes on the first call. Called before measuring is switched on. Thread-safe. Throws
    // std::bad_alloc.
    static void prepare();

    // Called for each job that is created while measuring is on. Returns true if its run delay is measured.
    [[nodiscard]] static bool created(measured_thread& mine, const void* job) noexcept {
        if (mine.block == nullptr) [[unlikely]] {
            count_created(mine);
        } else {
            measured_thread::add_own(mine.block->created);
        }
        time_point at{};
        const std::uint32_t times = mine.delays.due(at);
        return times != 0 && probe_delay(job, at, times);
    }
    // Called when a job begins. Requires that created() returned true for it.
    static void begins(const void* job) noexcept;
    // Called when a job that was counted ends. `literal` is null if the name is not a literal.
    static void ended(measured_thread& mine, const char* literal, std::string_view name, job_end how) noexcept;
    // A faster ended() for completed jobs. Returns false, and does nothing, if the last job on this thread had another name.
    [[nodiscard]] static bool completed_again(measured_thread& mine, const char* literal) noexcept {
        if (mine.last_name != literal) [[unlikely]] {
            return false;
        }
        measured_thread::add_own(*mine.last_completed);
        return true;
    }
    // Returns the sums over all threads. Thread-safe.
    [[nodiscard]] static job_totals totals() noexcept;
    // Calls see(name, outcome, count) for each name and outcome that occurred. The name of number 0 is "other". Thread-safe.
    template <class See>
    static void read(See see) {
        for (std::uint32_t n = 0; n <= most_names; ++n) {
            for (const job_end how : {job_end::completed, job_end::failed, job_end::cancelled}) {
                if (const std::uint64_t count = count_of(n, how); count != 0) {
                    see(name_of(n), how, count);
                }
            }
        }
    }

private:
    [[gnu::noinline]] static void count_created(measured_thread& mine) noexcept;
    [[gnu::noinline]] static bool probe_delay(const void* job, time_point at, std::uint32_t times) noexcept;
    [[nodiscard]] static std::uint64_t count_of(std::uint32_t name, job_end how) noexcept;
    [[nodiscard]] static std::string_view name_of(std::uint32_t name) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
