#pragma once

// The record of one event in the flight recorder: 32 bytes. A file has the same words (observe/recording.hpp). So the number
// and the words of a kind never change.
//
//   word 0   ticks
//   word 1   kind in the upper 8 bits, subject below: the address of a job, node, frame or timer, or a number
//   word 2   first fact      word 3   second fact
//
// A text is one word: the address of a literal (upper 16 bits 0), or the number of a copied name (upper 16 bits 1). 0 is no
// text. A place is one word: the address of the file's name below, the line in the upper 16 bits.

#include <roost/base/site.hpp>

#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

//   kind           subject  first fact               second fact
//   thread_began   -        the kernel's number      -                        a thread took over this ring
//   job_created    job      parent                   text: its name
//   job_origin     job      place                    text: its parent's name  follows job_created
//   job_resumed    job      frame                    text: its name           its body runs on this thread
//   job_left       job      job that runs again, 0   -                        its body left this thread
//   job_suspended  job      frame                    text: what it waits on
//   job_awaits     job      place of the await       -                        follows job_suspended
//   job_ended      job      job_state                -
//   job_cancelled  job      -                        -
//   frame_woken    frame    job that woke it, 0      -
//   level_raised   node     level                    text: its name
//   pool_acquired  slot     place                    text: the pool's name
//   pool_released  slot     -                        text: the pool's name
//   pool_waited    pool     place                    text: the pool's name
//   timer_fired    timer    lateness in ns           -
//   body_stalled   worker   running time in ns       text: what runs
//   worker_parked  -        1: in the driver         -
//   worker_woke    -        -                        -
enum class event_kind : std::uint8_t {
    none = 0,
    thread_began = 1,
    job_created = 2,
    job_origin = 3,
    job_resumed = 4,
    job_left = 5,
    job_suspended = 6,
    job_ended = 7,
    job_cancelled = 8,
    frame_woken = 9,
    level_raised = 10,
    pool_acquired = 11,
    pool_released = 12,
    pool_waited = 13,
    timer_fired = 14,
    body_stalled = 15,
    worker_parked = 16,
    worker_woke = 17,
    job_awaits = 18,
};
inline constexpr std::uint8_t event_kinds = 19;

class flight_record {
public:
    static constexpr std::size_t words = 4;
    static constexpr unsigned kind_shift = 56;
    static constexpr unsigned upper_shift = 48;
    static constexpr std::uint64_t subject_mask = (std::uint64_t(1) << kind_shift) - 1;
    static constexpr std::uint64_t lower_mask = (std::uint64_t(1) << upper_shift) - 1;
    static constexpr std::uint64_t name_tag = std::uint64_t(1) << upper_shift;
    static constexpr std::uint64_t longest_line = 0xffff;

    [[nodiscard]] std::uint64_t ticks() const noexcept { return word[0]; }
    [[nodiscard]] event_kind kind() const noexcept { return static_cast<event_kind>(word[1] >> kind_shift); }
    [[nodiscard]] std::uint64_t subject() const noexcept { return word[1] & subject_mask; }
    [[nodiscard]] std::uint64_t first() const noexcept { return word[2]; }
    [[nodiscard]] std::uint64_t second() const noexcept { return word[3]; }

    [[nodiscard]] static constexpr std::uint64_t head(event_kind kind, std::uint64_t subject) noexcept {
        return std::uint64_t(static_cast<std::uint8_t>(kind)) << kind_shift | (subject & subject_mask);
    }
    [[nodiscard]] static std::uint64_t address(const void* of) noexcept { return reinterpret_cast<std::uintptr_t>(of); }
    [[nodiscard]] static std::uint64_t literal(const char* text) noexcept {
        const std::uint64_t word = address(text);
        return word <= lower_mask ? word : 0;
    }
    [[nodiscard]] static std::uint64_t place(const site& where) noexcept {
        return where.is_known() ? literal(where.file()) | with_line(where.line()) : 0;
    }
    [[nodiscard]] static constexpr std::uint64_t with_line(std::uint32_t line) noexcept {
        return (line < longest_line ? std::uint64_t(line) : longest_line) << upper_shift;
    }

    // Returns which facts of a kind are texts, and which are places: bit 0 the first fact, bit 1 the second.
    [[nodiscard]] static constexpr unsigned texts_of(event_kind kind) noexcept {
        switch (kind) {
            case event_kind::job_created:
            case event_kind::job_origin:
            case event_kind::job_resumed:
            case event_kind::job_suspended:
            case event_kind::level_raised:
            case event_kind::pool_acquired:
            case event_kind::pool_released:
            case event_kind::pool_waited:
            case event_kind::body_stalled: return 2;
            default: return 0;
        }
    }
    [[nodiscard]] static constexpr unsigned places_of(event_kind kind) noexcept {
        return kind == event_kind::job_origin || kind == event_kind::job_awaits || kind == event_kind::pool_acquired ||
                       kind == event_kind::pool_waited
                   ? 1
                   : 0;
    }

    std::uint64_t word[words];
};
static_assert(sizeof(flight_record) == 32);

}  // namespace roost::inline ROOST_ABI::detail
