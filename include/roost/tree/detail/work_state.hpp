#pragma once

#include <roost/base/detail/state_word.hpp>

#include <cstdint>

// The work word of a node as a plain value with pure transitions: how much work is in flight, how many references hold the
// memory, and whether the ancestors count the node.
//
// A unit is work: a running body, a guard, a lease, or "a child has work". A reference keeps the memory and nothing else.
// `announced` means that every ancestor counts this node's work: the parent holds one unit for it. A thread that adds a unit
// and finds it unset announces before it returns, so every unit is visible to the ancestors before it is used. A root is
// announced for ever.
//
//   bit 0        announced
//   bit 1        watched: drained() is called whenever the units reach zero
//   bit 2        closing: only those who hold a unit may add more; the last unit to go closes
//   bit 3        closed: final, nothing is admitted any more
//   bit 4        mixed: of a view that counts its own units apart, others than its own are among the units
//   bits 5-31    references
//   bits 32-63   units

namespace roost::inline ROOST_ABI::detail {

using work_word = std::uint64_t;

inline constexpr work_word announced_bit = 1;
inline constexpr work_word watched_bit = 2;
inline constexpr work_word closing_bit = 4;
inline constexpr work_word closed_bit = 8;
inline constexpr work_word mixed_bit = 16;
inline constexpr work_word one_reference = 32;
inline constexpr work_word one_unit = work_word(1) << 32;
// Half of the range of the fields: threads that are past the check and before the panic still have room.
inline constexpr std::uint32_t unit_limit = std::uint32_t(1) << 31;
inline constexpr std::uint32_t reference_limit = std::uint32_t(1) << 26;

struct work_state {
    std::uint32_t units = 0;
    std::uint32_t references = 0;
    bool announced = false;
    bool watched = false;
    bool closing = false;
    bool closed = false;
    bool mixed = false;

    [[nodiscard]] constexpr work_word pack() const noexcept {
        return work_word(units) * one_unit + work_word(references) * one_reference + (announced ? announced_bit : 0) +
               (watched ? watched_bit : 0) + (closing ? closing_bit : 0) + (closed ? closed_bit : 0) +
               (mixed ? mixed_bit : 0);
    }
    [[nodiscard]] static constexpr work_state unpack(work_word w) noexcept {
        return {static_cast<std::uint32_t>(w >> 32U),
                static_cast<std::uint32_t>(w >> 5U) & 0x07ff'ffffU,
                (w & announced_bit) != 0,
                (w & watched_bit) != 0,
                (w & closing_bit) != 0,
                (w & closed_bit) != 0,
                (w & mixed_bit) != 0};
    }
    friend constexpr bool operator==(const work_state&, const work_state&) noexcept = default;

    // I1 a live node has a unit or a reference; I2 closed implies closing and no units;
    // I3 a node whose last unit went announced keeps a reference until its drain is finished.
    [[nodiscard]] constexpr bool is_dead() const noexcept { return units == 0 && references == 0; }
    [[nodiscard]] constexpr bool is_valid() const noexcept {
        return (!closed || (closing && units == 0)) && units <= unit_limit && references <= reference_limit;
    }
};

// The steps that the caller takes after the commit.
struct work_action {
    bool refused = false;  // nothing was changed
    bool announce = false;  // make the ancestors count this node, then set announced
    bool drained = false;  // the units of a watched or closing node reached zero; the caller holds one reference for this
    bool leave_parent = false;  // give the parent back the unit that announced this node
    bool dead = false;  // no reference and no unit is left: destroy the node
    friend constexpr bool operator==(const work_action&, const work_action&) noexcept = default;
};

using work_step = step<work_state, work_action>;

// Adds a unit, for a caller that holds one already or for a node that never closes. fetch_add(one_unit) is the same
// transition.
[[nodiscard]] constexpr work_step enter(work_state s) noexcept {
    const bool announce = !s.announced;
    ++s.units;
    return go(s, work_action{.announce = announce});
}

// Adds a unit for an outsider: refused from `closing` on. Ignores levels: a caller that wants none of a stopped node reads
// the level after it has entered (shutdown's try_guard).
[[nodiscard]] constexpr work_step try_enter(work_state s, std::uint32_t limit = unit_limit) noexcept {
    if (s.closing || s.units >= limit) {
        return refuse<work_state>(work_action{.refused = true});
    }
    return enter(s);
}

// Adds a unit for a caller that holds none, while others hold some: refused if closed.
[[nodiscard]] constexpr work_step try_enter_as_member(work_state s, std::uint32_t limit = unit_limit) noexcept {
    if (s.closed || s.units >= limit) {
        return refuse<work_state>(work_action{.refused = true});
    }
    return enter(s);
}

// Adds a child: it holds one reference on its parent, and one unit too if it starts with work.
[[nodiscard]] constexpr work_step adopt(work_state s, bool with_unit, bool as_member,
                                        std::uint32_t limit = unit_limit) noexcept {
    if (s.closed || (s.closing && !as_member) || s.units >= limit || s.references >= reference_limit) {
        return refuse<work_state>(work_action{.refused = true});
    }
    ++s.references;
    return with_unit ? enter(s) : go(s, work_action{});
}

// Removes a unit.
[[nodiscard]] constexpr work_step leave(work_state s, bool is_root) noexcept {
    --s.units;
    if (s.units > 0) {
        return go(s, work_action{});
    }
    if (s.watched || s.closing) {
        s.closed = s.closing;
        ++s.references;
        return go(s, work_action{.drained = true});
    }
    const bool leave_parent = s.announced && !is_root;
    s.announced = is_root;
    return go(s, work_action{.leave_parent = leave_parent, .dead = s.is_dead()});
}

// Removes a child that had work: its unit and its reference at once.
[[nodiscard]] constexpr work_step leave_with_child(work_state s, bool is_root) noexcept {
    --s.references;
    return leave(s, is_root);
}

// --- the same on the packed word, for the hot paths; the tests hold them equal to the transitions above ---------------------

// Returns true if removing a unit requires no action: it is not the last, or it is that of a root that is referenced and not
// watched.
[[nodiscard]] constexpr bool leaves_quietly(work_word w, bool is_root) noexcept {
    constexpr work_word all_references = one_unit - one_reference;
    return w >= 2 * one_unit ||
           (is_root && w >= one_unit && (w & (watched_bit | closing_bit)) == 0 && (w & all_references) != 0);
}
// Returns true if the removed reference was all that held the memory.
[[nodiscard]] constexpr bool dies_with_reference(work_word before) noexcept {
    constexpr work_word flags = one_reference - 1;
    return (before & ~flags) == one_reference;
}
// Returns true if adopt() would not refuse.
[[nodiscard]] constexpr bool adopts(work_word w, bool as_member) noexcept {
    constexpr work_word full = unit_limit * one_unit | reference_limit * one_reference;
    return (w & (full | closed_bit | (as_member ? 0 : closing_bit))) == 0;
}
// Returns the word of a child that has nothing but its own unit and so many references.
[[nodiscard]] constexpr work_word alone_with(std::uint32_t references) noexcept {
    return one_unit | announced_bit | references * one_reference;
}
// Returns true if there is no work and one reference: its holder is alone.
[[nodiscard]] constexpr bool is_unshared(work_word w) noexcept { return (w & ~(watched_bit | mixed_bit)) == one_reference; }
// Returns true for a node below the root that is neither watched nor closing, for its last unit.
[[nodiscard]] constexpr bool leaves_upward(work_word w) noexcept { return (w & (watched_bit | closing_bit)) == 0; }
[[nodiscard]] constexpr work_word left_upward(work_word w) noexcept { return (w - one_unit) & ~announced_bit; }
[[nodiscard]] constexpr work_action action_of_left_upward(work_word w) noexcept {
    return {.leave_parent = (w & announced_bit) != 0, .dead = (left_upward(w) & ~mixed_bit) == 0};
}

// Returns true if close_and_leave() drains.
[[nodiscard]] constexpr bool is_last_unit(work_word w) noexcept { return (w >> 32U) == 1; }
[[nodiscard]] constexpr work_word closed_for_good(work_word w) noexcept {
    return (w - one_unit + one_reference) | closing_bit | closed_bit;
}

// Called when the view has handled the drain: the ancestors stop counting this node, unless new work has come.
[[nodiscard]] constexpr work_step finish_drain(work_state s, bool is_root) noexcept {
    --s.references;
    const bool leave_parent = s.units == 0 && s.announced && !is_root;
    if (leave_parent) {
        s.announced = false;
    }
    return go(s, work_action{.leave_parent = leave_parent, .dead = s.is_dead()});
}

// From now on only members add work. Drains at once if there is none.
[[nodiscard]] constexpr work_step close(work_state s) noexcept {
    if (s.closing) {
        return refuse<work_state>(work_action{.refused = true});
    }
    s.closing = true;
    if (s.units > 0) {
        return go(s, work_action{});
    }
    s.closed = true;
    ++s.references;
    return go(s, work_action{.drained = true});
}

// The body's last step: closes and gives back its unit, in one commit.
[[nodiscard]] constexpr work_step close_and_leave(work_state s, bool is_root) noexcept {
    s.closing = true;
    return leave(s, is_root);
}

[[nodiscard]] constexpr work_step watch(work_state s) noexcept {
    s.watched = true;
    return go(s, work_action{});
}

[[nodiscard]] constexpr work_step drop_reference(work_state s) noexcept {
    --s.references;
    return go(s, work_action{.dead = s.is_dead()});
}

// Adds a reference for a caller that found the node through a link that does not keep it alive.
[[nodiscard]] constexpr work_step try_reference(work_state s) noexcept {
    if (s.is_dead()) {
        return refuse<work_state>(work_action{.refused = true});
    }
    ++s.references;
    return go(s, work_action{});
}

}  // namespace roost::inline ROOST_ABI::detail
