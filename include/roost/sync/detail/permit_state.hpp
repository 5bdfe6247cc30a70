#pragma once

// The word of mutex, shared_mutex and semaphore, as a value with pure transitions.
//
// Why it is not simpler: a counter alone would let a newcomer take the permit that a release meant for the first waiter,
// which then queues again at the tail and can starve. So "not empty" is in the same word as the count, and a newcomer takes
// only while it is clear.
//
// word     bit 0      waited   the list is not empty: newcomers queue; set and cleared under the list's lock
//          bit 1      open     the first waiter is a thread that was notified to take its permits; until it does, spinning
//                              threads may take them; set and cleared under the list's lock
//          bit 2..31  available
//
// states   free        waited = 0             any caller takes what is available
//          queued      waited = 1, open = 0   only the holder of the list's lock grants permits
//          open        waited = 1, open = 1   as queued, and spinning threads take them
//
//   free --take(n), enough--> free               fast path: one compare-exchange
//   free --give(n)--> free                       fast path: one addition
//   free|queued|open --enqueue, not enough--> queued|open
//   queued|open --give(n)--> same, more available    effect: grant under the lock
//   queued --notify a thread--> open --it takes--> queued | free
//
// I1       open implies waited
// I2       available <= total; equal when no permit is held

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

// For a newcomer: refuses while there is a queue.
[[nodiscard]] constexpr std::optional<permit_state> take(permit_state s, std::uint32_t n) noexcept {
    if (s.waited || s.available < n) {
        return std::nullopt;
    }
    s.available -= n;
    return s;
}
// For a spinning thread: may overtake a queue whose head is a notified thread.
[[nodiscard]] constexpr std::optional<permit_state> barge(permit_state s, std::uint32_t n) noexcept {
    if ((s.waited && !s.open) || s.available < n) {
        return std::nullopt;
    }
    s.available -= n;
    return s;
}
// Under the list's lock, for its first waiter. last: true if the list is empty afterwards.
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
// Under the list's lock: takes at once, as take() would, or marks the word as waited.
[[nodiscard]] constexpr permit_state enqueue(permit_state s, std::uint32_t n) noexcept {
    if (const auto taken = take(s, n)) {
        return *taken;
    }
    s.waited = true;
    return s;
}
// Returns how many of n permits can be removed for good: only available ones.
[[nodiscard]] constexpr std::uint32_t removable(permit_state s, std::uint32_t n) noexcept {
    return s.available < n ? s.available : n;
}

}  // namespace roost::inline ROOST_ABI::detail
