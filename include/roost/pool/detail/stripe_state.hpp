#pragma once

// One stripe of a pool as a plain value with pure transitions.
//
// A stripe owns up to ten slots. A slot is one unit of capacity, with or without a resource. The whole state is one 64-bit word,
// including the order of the idle slots. So there are no links to follow, and equal words are equal states (there is no ABA).
// A slot can be taken from the top (used last) or from the bottom (idle longest). One compare-exchange commits any transition.
//
//   bits  0-39   ten slot numbers: the idle ones from position 0 up, the last one returned on top; the spare ones from
//                position 9 down
//   bits 40-43   idle      slots with a resource that is not in use
//   bits 44-47   spare     slots without a resource
//   bits 48-51   out       slots whose resource has a holder
//   bits 52-55   busy      slots whose resource is being created, checked or destroyed
//   bits 56-59   retired   slots that must not be filled: capacity = slots - retired
//   bit  60      counted   the pool's node holds one unit of work for this stripe
//   bit  61      waited    waiters are queued: newcomers take nothing, and returns go through the queue's lock
//   bit  62      stopped   no slot is taken any more
//   bit  63      closed    stopped, and returned resources are destroyed
//
//   spare --reserve--> busy --made--> out --put--> idle --take--> out
//                      busy --bank--> idle           out --discard--> busy
//                      busy --emptied--> spare      idle --evict, evict_all--> busy
//                      busy, emptied --recreate--> busy, creating
//
// I1  spare + idle + out + busy = slots: every transition moves units between two of the four
// I2  free = max(0, spare - retired); over = max(0, retired - spare); capacity + over = free + idle + out + busy
// I3  a slot number is in the word exactly once while its slot is idle or spare, and not at all otherwise
// I4  closed implies stopped; closed with nothing idle, out or busy is final

#include <roost/base/config.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class stripe_state {
public:
    using word = std::uint64_t;
    static constexpr unsigned max_slots = 10;
    static constexpr word order_mask = (word(1) << 40) - 1;
    static constexpr word one_idle = word(1) << 40;
    static constexpr word one_spare = word(1) << 44;
    static constexpr word one_out = word(1) << 48;
    static constexpr word one_busy = word(1) << 52;
    static constexpr word one_retired = word(1) << 56;
    static constexpr word counted_bit = word(1) << 60;
    static constexpr word waited_bit = word(1) << 61;
    static constexpr word stopped_bit = word(1) << 62;
    static constexpr word closed_bit = word(1) << 63;

    constexpr stripe_state() noexcept = default;
    constexpr explicit stripe_state(word w) noexcept : bits(w) {}
    // Returns a stripe of `slots` spare slots, `slots - capacity` of them retired. The lowest number is taken first.
    [[nodiscard]] static constexpr stripe_state make(unsigned slots, unsigned capacity) noexcept {
        stripe_state s;
        for (unsigned i = slots; i-- > 0;) {
            s.push_spare(i);
        }
        s.bits += one_retired * (slots - capacity);
        return s;
    }

    [[nodiscard]] constexpr unsigned idle() const noexcept { return field(40); }
    [[nodiscard]] constexpr unsigned spare() const noexcept { return field(44); }
    [[nodiscard]] constexpr unsigned out() const noexcept { return field(48); }
    [[nodiscard]] constexpr unsigned busy() const noexcept { return field(52); }
    [[nodiscard]] constexpr unsigned retired() const noexcept { return field(56); }
    [[nodiscard]] constexpr bool is_counted() const noexcept { return (bits & counted_bit) != 0; }
    [[nodiscard]] constexpr bool is_waited() const noexcept { return (bits & waited_bit) != 0; }
    [[nodiscard]] constexpr bool is_stopped() const noexcept { return (bits & stopped_bit) != 0; }
    [[nodiscard]] constexpr bool is_closed() const noexcept { return (bits & closed_bit) != 0; }

    [[nodiscard]] constexpr unsigned slots() const noexcept { return idle() + spare() + out() + busy(); }
    [[nodiscard]] constexpr unsigned capacity() const noexcept { return slots() - retired(); }
    [[nodiscard]] constexpr unsigned free() const noexcept { return spare() > retired() ? spare() - retired() : 0; }
    // Resources beyond the capacity, after it was reduced. Each is destroyed when it is returned.
    [[nodiscard]] constexpr unsigned over() const noexcept { return retired() > spare() ? retired() - spare() : 0; }
    [[nodiscard]] constexpr unsigned live() const noexcept { return idle() + out() + busy(); }
    [[nodiscard]] constexpr bool is_drained() const noexcept { return is_closed() && live() == 0; }

    // Returns the slot number at a position of the order.
    [[nodiscard]] constexpr unsigned at(unsigned position) const noexcept {
        return static_cast<unsigned>(bits >> (4 * position)) & 15U;
    }
    [[nodiscard]] constexpr unsigned newest() const noexcept { return at(idle() - 1); }

    constexpr unsigned pop_idle() noexcept {
        const unsigned position = idle() - 1;
        const unsigned slot = at(position);
        bits = (bits & ~(word(15) << (4 * position))) - one_idle;
        return slot;
    }
    constexpr void push_idle(unsigned slot) noexcept { bits = (bits | (word(slot) << (4 * idle()))) + one_idle; }
    constexpr unsigned pop_spare() noexcept {
        const unsigned position = max_slots - spare();
        const unsigned slot = at(position);
        bits = (bits & ~(word(15) << (4 * position))) - one_spare;
        return slot;
    }
    constexpr void push_spare(unsigned slot) noexcept {
        bits = (bits | (word(slot) << (4 * (max_slots - 1 - spare())))) + one_spare;
    }
    // Removes the idle slot at a position, 0 being the bottom. Those above move down.
    constexpr unsigned pop_idle_at(unsigned position) noexcept {
        const word above = ((word(1) << (4 * idle())) - 1) & ~((word(1) << (4 * position)) - 1);
        const unsigned slot = at(position);
        bits = ((bits & ~above) | ((bits & above) >> 4U & above)) - one_idle;
        return slot;
    }

    friend constexpr bool operator==(stripe_state, stripe_state) noexcept = default;

    word bits = 0;

private:
    [[nodiscard]] constexpr unsigned field(unsigned shift) const noexcept {
        return static_cast<unsigned>(bits >> shift) & 15U;
    }
};

// What the caller must do after the commit.
enum class stripe_effect : std::uint8_t {
    refused,  // nothing to do: the transition is not allowed, and nothing is committed
    none,
    deliver,  // the caller holds the slot's resource
    create,  // the caller holds the right to create in this slot
    destroy,  // the caller destroys the slot's resource, then commits `emptied`
};

struct stripe_step {
    stripe_state next;
    stripe_effect effect = stripe_effect::refused;
    unsigned slot = 0;
    bool leave = false;  // no slot is out or busy any more: give the node its unit back

    [[nodiscard]] constexpr bool is_refused() const noexcept { return effect == stripe_effect::refused; }
};

namespace stripe {

inline constexpr stripe_state::word no_entry = stripe_state::waited_bit | stripe_state::stopped_bit;

// Sets `counted` if the caller has entered the node for this stripe.
[[nodiscard]] constexpr stripe_state with_unit(stripe_state s, bool entered) noexcept {
    return stripe_state(s.bits | (entered ? stripe_state::counted_bit : 0));
}
[[nodiscard]] constexpr stripe_step finish(stripe_state s, stripe_effect effect, unsigned slot) noexcept {
    const bool leave = s.is_counted() && s.out() + s.busy() == 0;
    return {stripe_state(leave ? s.bits & ~stripe_state::counted_bit : s.bits), effect, slot, leave};
}

// Takes the newest idle resource. `past_queue`: the caller holds the queue's lock and takes it for the first waiter, or is a
// spinning thread that may overtake a parked one.
[[nodiscard]] constexpr stripe_step take(stripe_state s, bool entered, bool past_queue) noexcept {
    if (s.idle() == 0 || (s.bits & (past_queue ? stripe_state::stopped_bit : no_entry)) != 0) {
        return {};
    }
    s = with_unit(s, entered);
    const unsigned slot = s.pop_idle();
    s.bits += stripe_state::one_out;
    return {s, stripe_effect::deliver, slot};
}
// Tests for the common case of take(): not stopped, no waiters, a resource idle, and the unit of work counted. `unit` is the
// counted bit, or 0 for a pool without a parent. take_plainly() then equals take().
[[nodiscard]] constexpr bool take_is_plain(stripe_state s, stripe_state::word unit) noexcept {
    return ((s.bits ^ unit) & (no_entry | stripe_state::counted_bit)) == 0 && s.idle() != 0;
}
[[nodiscard]] constexpr stripe_state take_plainly(stripe_state s, unsigned& slot) noexcept {
    slot = s.pop_idle();
    s.bits += stripe_state::one_out;
    return s;
}
// Takes the right to create in a spare slot.
[[nodiscard]] constexpr stripe_step reserve(stripe_state s, bool entered, bool past_queue) noexcept {
    if (s.free() == 0 || (s.bits & (past_queue ? stripe_state::stopped_bit : no_entry)) != 0) {
        return {};
    }
    s = with_unit(s, entered);
    const unsigned slot = s.pop_spare();
    s.bits += stripe_state::one_busy;
    return {s, stripe_effect::create, slot};
}
// Created, for a waiter.
[[nodiscard]] constexpr stripe_step made(stripe_state s, unsigned slot) noexcept {
    s.bits += stripe_state::one_out - stripe_state::one_busy;
    return {s, stripe_effect::deliver, slot};
}
// Created, for no waiter: becomes idle, or is destroyed if the pool is closed or over its capacity.
[[nodiscard]] constexpr stripe_step bank(stripe_state s, unsigned slot) noexcept {
    if (s.is_closed() || s.over() != 0) {
        return {s, stripe_effect::destroy, slot};
    }
    s.bits -= stripe_state::one_busy;
    s.push_idle(slot);
    return finish(s, stripe_effect::none, slot);
}
// Returned.
[[nodiscard]] constexpr stripe_step put(stripe_state s, unsigned slot) noexcept {
    s.bits -= stripe_state::one_out;
    if (s.is_closed() || s.over() != 0) {
        s.bits += stripe_state::one_busy;
        return {s, stripe_effect::destroy, slot};
    }
    s.push_idle(slot);
    return finish(s, stripe_effect::none, slot);
}
// Tests for the common case of put(): open, no waiters, capacity not reduced, no unit to give back. put_plainly() then equals
// put().
inline constexpr stripe_state::word put_is_special =
    stripe_state::closed_bit | stripe_state::waited_bit | stripe_state::counted_bit | stripe_state::one_retired * 15;
[[nodiscard]] constexpr stripe_state put_plainly(stripe_state s, unsigned slot) noexcept {
    s.bits -= stripe_state::one_out;
    s.push_idle(slot);
    return s;
}
// Discarded by its holder.
[[nodiscard]] constexpr stripe_step discard(stripe_state s, unsigned slot) noexcept {
    s.bits += stripe_state::one_busy - stripe_state::one_out;
    return {s, stripe_effect::destroy, slot};
}
// Its resource is destroyed, or was never created.
[[nodiscard]] constexpr stripe_step emptied(stripe_state s, unsigned slot) noexcept {
    s.bits -= stripe_state::one_busy;
    s.push_spare(slot);
    return finish(s, stripe_effect::none, slot);
}
// Its resource is destroyed, and the first waiter without one gets the right to create another in its slot. No other thread sees
// the slot free.
[[nodiscard]] constexpr stripe_step recreate(stripe_state s, unsigned slot, bool entered) noexcept {
    if (s.is_stopped() || s.over() != 0) {
        return {};
    }
    return {with_unit(s, entered), stripe_effect::create, slot};
}
// Removes an idle resource to destroy it. Position 0 has been idle longest.
[[nodiscard]] constexpr stripe_step evict(stripe_state s, unsigned position = 0) noexcept {
    if (s.idle() <= position) {
        return {};
    }
    const unsigned slot = s.pop_idle_at(position);
    s.bits += stripe_state::one_busy;
    return {s, stripe_effect::destroy, slot};
}
// Removes all idle resources to destroy them. The state before lists them, from the one idle longest.
[[nodiscard]] constexpr stripe_step evict_all(stripe_state s) noexcept {
    const unsigned count = s.idle();
    if (count == 0) {
        return {};
    }
    s.bits &= ~((stripe_state::word(1) << (4 * count)) - 1);
    s.bits += (stripe_state::one_busy - stripe_state::one_idle) * count;
    return {s, stripe_effect::destroy};
}
[[nodiscard]] constexpr stripe_step set_capacity(stripe_state s, unsigned capacity) noexcept {
    const unsigned slots = s.slots();
    s.bits += stripe_state::one_retired * (slots - capacity) - stripe_state::one_retired * s.retired();
    return {s, stripe_effect::none};
}
[[nodiscard]] constexpr stripe_step wait(stripe_state s, bool waited) noexcept {
    s.bits = waited ? s.bits | stripe_state::waited_bit : s.bits & ~stripe_state::waited_bit;
    return {s, stripe_effect::none};
}
[[nodiscard]] constexpr stripe_step stop(stripe_state s) noexcept {
    s.bits |= stripe_state::stopped_bit;
    return {s, stripe_effect::none};
}
[[nodiscard]] constexpr stripe_step close(stripe_state s) noexcept {
    s.bits |= stripe_state::stopped_bit | stripe_state::closed_bit;
    return {s, stripe_effect::none};
}

}  // namespace stripe

// Returns true if the word satisfies I1 to I4 for a stripe with that many slots.
[[nodiscard]] constexpr bool is_valid(stripe_state s, unsigned slots) noexcept {
    unsigned seen = 0;
    for (unsigned i = 0; i < stripe_state::max_slots; ++i) {
        const bool is_used = i < s.idle() || i >= stripe_state::max_slots - s.spare();
        if (!is_used) {
            if (s.at(i) != 0) {
                return false;
            }
            continue;
        }
        if (s.at(i) >= slots || (seen & (1U << s.at(i))) != 0) {
            return false;
        }
        seen |= 1U << s.at(i);
    }
    return s.slots() == slots && s.retired() <= slots && s.capacity() + s.over() == s.free() + s.live() &&
           (!s.is_closed() || s.is_stopped());
}

}  // namespace roost::inline ROOST_ABI::detail
