#pragma once

// The word of mutex, shared_mutex and semaphore, as a value with pure transitions.
//
// Why it is not simpler: a counter alone would let a newcomer take the permit that a release meant for the first in the
// queue, who then queues up again at the tail and can starve. So "somebody waits" is in the same word as the count, and a
// newcomer takes only when it is clear.
//
// word     bit 0      waited   the list is not empty: newcomers queue up; set and cleared under the list's lock
//          bit 1      open     the first in the list is a thread that was told to come and take its permits; until it does,
//                              threads that are still spinning may take them; set and cleared under the list's lock
//          bit 2..31  available
//
// states   free        waited = 0             anybody takes what is available
//          queued      waited = 1, open = 0   only the holder of the list's lock gives permits away
//          open        waited = 1, open = 1   the same, and spinning threads
//
//   free --take(n), enough--> free               fast path: one compare-exchange
//   free --give(n)--> free                       fast path: one addition
//   free|queued|open --enqueue, not enough--> queued|open
//   queued|open --give(n)--> same, more available    effect: grant under the lock
//   queued --grant to a thread--> open --it came--> queued | free
//
// I1       open implies waited
// I2       available <= total; equal when nobody holds any

#include <roost/base/atomic.hpp>

#include <cstdint>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

struct permit_state {
    std::uint32_t available = 0;
    bool waited = false;
    bool open = false;

    static constexpr std::uint32_t waited_bit = 1;
    static constexpr std::uint32_t open_bit = 2;
    static constexpr std::uint32_t unit = 4;
    static constexpr std::uint32_t max = (1U << 29U) - 1;  // so that a sum of two still fits

    [[nodiscard]] constexpr std::uint32_t pack() const noexcept {
        return available * unit + (waited ? waited_bit : 0) + (open ? open_bit : 0);
    }
    [[nodiscard]] static constexpr permit_state unpack(std::uint32_t word) noexcept {
        return {word / unit, (word & waited_bit) != 0, (word & open_bit) != 0};
    }
    friend constexpr bool operator==(const permit_state&, const permit_state&) noexcept = default;
};

[[nodiscard]] constexpr bool invariant(permit_state s, std::uint32_t total) noexcept {
    return (!s.open || s.waited) && s.available <= total;
}

// A newcomer: never past a queue.
[[nodiscard]] constexpr std::optional<permit_state> take(permit_state s, std::uint32_t n) noexcept {
    if (s.waited || s.available < n) {
        return std::nullopt;
    }
    s.available -= n;
    return s;
}
// A thread that is still spinning: past a queue whose head is a thread that has not come yet.
[[nodiscard]] constexpr std::optional<permit_state> barge(permit_state s, std::uint32_t n) noexcept {
    if ((s.waited && !s.open) || s.available < n) {
        return std::nullopt;
    }
    s.available -= n;
    return s;
}
// Under the list's lock, for its first waiter; last: the list is empty afterwards.
[[nodiscard]] constexpr std::optional<permit_state> grant(permit_state s, std::uint32_t n, bool last) noexcept {
    if (s.available < n) {
        return std::nullopt;
    }
    s.available -= n;
    s.open = false;
    s.waited = !last;
    return s;
}
[[nodiscard]] constexpr permit_state give(permit_state s, std::uint32_t n) noexcept {
    s.available += n;
    return s;
}
// Under the list's lock: queue up, or take at once. The second value says which.
[[nodiscard]] constexpr permit_state enqueue(permit_state s, std::uint32_t n) noexcept {
    if (const auto taken = take(s, n)) {
        return *taken;
    }
    s.waited = true;
    return s;
}
// How many of n can be taken away for good: only what nobody holds and nobody has been promised.
[[nodiscard]] constexpr std::uint32_t removable(permit_state s, std::uint32_t n) noexcept {
    return s.available < n ? s.available : n;
}

}  // namespace roost::inline ROOST_ABI::detail
