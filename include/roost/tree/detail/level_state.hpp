#pragma once

#include <roost/tree/level.hpp>

#include <cstdint>

// The level word of a node: which levels were raised here, and what delays them. Pure functions on the packed word,
// so that the hot paths can use fetch_or and still be the same transitions that the tests enumerate.
//
//   bit  0      heeding: without it (an ignore guard) cancel is recorded but has no effect yet, here and below
//   bits 1-3    raised: stop, cancel, abort. Each bit is its own fact: cancelling a node doesn't set its stop bit, because
//               inside a shield the one must be able to arrive without the other.
//   bits 4-6    own: the reason of that level was given at this node; otherwise it is the parent's
//   bits 7-9    spread: everything below that the level can reach has been reached
//   bit  10     shield: delays a cancel that comes from the parent (never changes)
//   bit  11     gone: the last owner is gone; only observers hold the memory
//   bit  12     unobserved: level_raised is not called for a level that comes from above (set only at birth)
//   bit  13     leased: a lease was taken here (never cleared)
//   bit  14     identified: it was given an id, so it can be found by that until it is destroyed (never cleared)
//   bits 16-19  kind of the node's own cancel reason when its record is kept elsewhere (0: the record has it)
//   bits 20-23  the same for abort
//
// Every await checks whether cancel has effect, so that is one comparison: abort, cancel and heeding, read as a number, are at
// least cancel and heeding.

namespace roost::inline ROOST_ABI::detail {

using level_word = std::uint32_t;

inline constexpr level_word heeding_bit = 1;
inline constexpr level_word raised_mask = 0xe;
inline constexpr level_word own_shift = 3;
inline constexpr level_word spread_shift = 6;
inline constexpr level_word shield_bit = level_word(1) << 10;
inline constexpr level_word gone_bit = level_word(1) << 11;
inline constexpr level_word unobserved_bit = level_word(1) << 12;
inline constexpr level_word leased_bit = level_word(1) << 13;
inline constexpr level_word identified_bit = level_word(1) << 14;
inline constexpr level_word kind_shift = 16;
inline constexpr level_word kind_width = 4;

// Precondition of the three: l is not running.
[[nodiscard]] constexpr level_word raised_bit(level l) noexcept { return level_word(1) << static_cast<level_word>(l); }
[[nodiscard]] constexpr level_word own_bit(level l) noexcept { return raised_bit(l) << own_shift; }
[[nodiscard]] constexpr level_word spread_bit(level l) noexcept { return raised_bit(l) << spread_shift; }

[[nodiscard]] constexpr bool is_raised(level_word w, level l) noexcept { return (w & raised_bit(l)) != 0; }
[[nodiscard]] constexpr bool is_ignoring(level_word w) noexcept { return (w & heeding_bit) == 0; }
[[nodiscard]] constexpr bool is_shield(level_word w) noexcept { return (w & shield_bit) != 0; }

// effective_level(w) >= level::cancel.
[[nodiscard]] constexpr bool is_cancelled(level_word w) noexcept {
    constexpr level_word cancel = raised_bit(level::cancel);
    return (w & (raised_bit(level::abort) | cancel | heeding_bit)) >= (cancel | heeding_bit);
}

// Returns what was requested, whether or not it has effect.
[[nodiscard]] constexpr level requested_level(level_word w) noexcept {
    if ((w & raised_bit(level::abort)) != 0) {
        return level::abort;
    }
    if ((w & raised_bit(level::cancel)) != 0) {
        return level::cancel;
    }
    return (w & raised_bit(level::stop)) != 0 ? level::stop : level::running;
}

// Returns what has effect: an ignore guard delays cancel, nothing else.
[[nodiscard]] constexpr level effective_level(level_word w) noexcept {
    const bool held_up = is_ignoring(w) && (w & raised_bit(level::abort)) == 0;
    return requested_level(held_up ? w & ~raised_bit(level::cancel) : w);
}

// Returns the raised bits that a node passes on to a child with the given flags.
[[nodiscard]] constexpr level_word inherited_bits(level_word parent, level_word child) noexcept {
    level_word bits = parent & raised_mask;
    if (is_ignoring(parent) || is_shield(child)) {
        bits &= ~raised_bit(level::cancel);
    }
    return bits;
}

// Returns true if raising l at or above this node continues into its subtree.
[[nodiscard]] constexpr bool passes(level_word w, level l) noexcept { return !(l == level::cancel && is_ignoring(w)); }

// Returns the raised level whose reason answers why(l): the lowest raised one that is not below l.
[[nodiscard]] constexpr level answering_level(level_word w, level l) noexcept {
    for (auto i = static_cast<std::uint8_t>(l == level::running ? level::stop : l); i <= 3; ++i) {
        if (is_raised(w, static_cast<level>(i))) {
            return static_cast<level>(i);
        }
    }
    return level::running;
}

[[nodiscard]] constexpr level_word kind_bits(level l, std::uint32_t kind) noexcept {
    return l == level::running || l == level::stop ? 0
                                                   : kind << (kind_shift + kind_width * (static_cast<level_word>(l) - 2));
}
[[nodiscard]] constexpr std::uint32_t kind_of(level_word w, level l) noexcept {
    if (l == level::running || l == level::stop) {
        return 0;
    }
    return (w >> (kind_shift + kind_width * (static_cast<level_word>(l) - 2))) & 0xf;
}

}  // namespace roost::inline ROOST_ABI::detail
