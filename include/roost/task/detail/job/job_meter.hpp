#pragma once

// Counts jobs by name and outcome, and samples their times, while measuring is on.
//
// Each of the first threads, by thread_index(), counts in a block of its own; the others share one. Names get a number when they
// are first seen, at most 200; further ones share the number 0. A thread remembers the numbers of the literals it saw last.
//
// A sampled job has a bit, and its time in a slot of a small table. A later job may overwrite the slot: that sample is lost.
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
struct job_meter_block;

// Of each thread, in its runner. Plain and zero at first.
struct measured_thread {
    struct known_name {
        const char* text;
        std::uint32_t number;
    };

    job_meter_block* block = nullptr;
    bool shares_block = false;
    std::uint32_t until_body = 0;
    std::uint32_t until_delay = 0;
    std::array<known_name, 8> names{};
};

enum class job_end : unsigned char { completed, failed, cancelled };

struct job_totals {
    std::uint64_t created = 0;
    std::uint64_t ended = 0;
};

class job_meter {
public:
    static constexpr std::size_t most_names = 200;
    static constexpr std::size_t longest_name = 120;

    // Allocates about 200 kilobytes on the first call; throws std::bad_alloc. To be called before measuring is on.
    static void prepare();

    // Called for each job that is created while measuring is on. Returns true if its delay is to be measured.
    static bool created(measured_thread& mine, const void* job) noexcept;
    // Called when such a job begins. Requires that its delay is to be measured.
    static void begins(const void* job) noexcept;
    static void ended(measured_thread& mine, std::string_view name, bool is_literal, job_end how) noexcept;
    // Returns true if this body is to be timed.
    [[nodiscard]] static bool is_body_due(measured_thread& mine) noexcept {
        return mine.until_body-- <= 1 && refill(mine.until_body);
    }

    [[nodiscard]] static job_totals totals() noexcept;
    // Calls see(name, outcome, count) for each name and outcome that occurred. The name of number 0 is "other".
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
    [[nodiscard]] static bool refill(std::uint32_t& until) noexcept;
    [[nodiscard]] static std::uint64_t count_of(std::uint32_t name, job_end how) noexcept;
    [[nodiscard]] static std::string_view name_of(std::uint32_t name) noexcept;
};

}  // namespace roost::inline ROOST_ABI::detail
