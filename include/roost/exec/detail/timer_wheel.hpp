#pragma once

#include <roost/base/assert.hpp>
#include <roost/exec/timer.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// Armed timers by time: inserts and erases in constant time, whatever the number of timers. Not thread-safe.
//
// Time is counted in ticks (shipped: of 65.5 microseconds). Deadlines are rounded up, so no timer fires early. A tick is a
// number of a few digits (shipped: eight of six bits). A timer is on the level of the highest digit in which its tick differs
// from the current one, in the slot of that digit. Every slot of a level is later than the current digit and earlier than any
// slot of a higher level, so counting zero bits finds the next slot. When time reaches a slot its timers move to lower levels,
// at most seven times in the life of a timer, and only if it is not erased before.
//
// Fields   timer::next, prev   the circular list of its slot
//          timer::position     number of that slot, or `due`
// I1       every slot in use starts after current_
// I2       occupied bit set == the slot's list is not empty

namespace roost::inline ROOST_ABI::detail {

struct wheel_policy {
    static constexpr unsigned tick_bits = 16;  // nanoseconds per tick: 2^16
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned levels = 8;
};

template <class Policy = wheel_policy>
class timer_wheel {
public:
    using tick = std::uint64_t;
    static constexpr tick never = ~tick{0};

    // Returns the first tick at which a timer with deadline t may fire.
    [[nodiscard]] static constexpr tick tick_of(time_point t) noexcept {
        const auto ns = t.time_since_epoch().count();
        constexpr auto round_up = (std::int64_t{1} << Policy::tick_bits) - 1;
        return ns <= 0 ? 0 : (static_cast<tick>(ns) + round_up) >> Policy::tick_bits;
    }
    // Returns the last tick that has begun at t.
    [[nodiscard]] static constexpr tick begun_at(time_point t) noexcept {
        const auto ns = t.time_since_epoch().count();
        return ns <= 0 ? 0 : static_cast<tick>(ns) >> Policy::tick_bits;
    }
    [[nodiscard]] static constexpr time_point start_of(tick t) noexcept {
        if (t > begun_at(time_point::max())) {
            return no_deadline;
        }
        return time_point(duration(static_cast<duration::rep>(t << Policy::tick_bits)));
    }

    [[nodiscard]] bool is_empty() const noexcept { return next_tick() == never; }

    // Returns the latest tick at which advance() has to be called for this timer.
    tick insert(timer& t) noexcept {
        const tick at = tick_of(t.deadline());
        if (at <= current_) {
            link(due_, t, due_position);
            return current_;
        }
        const auto level = static_cast<unsigned>(std::bit_width(at ^ current_) - 1) / Policy::digit_bits;
        const auto slot = static_cast<unsigned>(at >> (level * Policy::digit_bits)) & digit_mask;
        link(slots_[level][slot], t, level * slots_per_level + slot);
        occupied_[level] |= std::uint64_t{1} << slot;
        return start(level, slot);
    }

    void erase(timer& t) noexcept {
        if (t.position == due_position) {
            unlink(due_, t);
            return;
        }
        const unsigned level = t.position / slots_per_level;
        const unsigned slot = t.position % slots_per_level;
        unlink(slots_[level][slot], t);
        if (slots_[level][slot] == nullptr) {
            occupied_[level] &= ~(std::uint64_t{1} << slot);
        }
    }

    // Returns the tick of the next advance(): no timer is due before it.
    [[nodiscard]] tick next_tick() const noexcept {
        if (due_ != nullptr) {
            return current_;
        }
        for (unsigned level = 0; level < Policy::levels; ++level) {
            if (occupied_[level] != 0) {
                return start(level, static_cast<unsigned>(std::countr_zero(occupied_[level])));
            }
        }
        return never;
    }

    // Moves all timers that are due at `now` to the due list. Does nothing if `now` is in the past.
    void advance(tick now) noexcept {
        for (tick next = next_slot(); next <= now; next = next_slot()) {
            ROOST_ASSERT(next > current_, "I1: every slot in use starts after the current tick");
            current_ = next;
            empty_slot();
        }
        if (now > current_) {
            current_ = now;
        }
    }
    [[nodiscard]] timer* pop_due() noexcept {
        timer* first = due_;
        if (first != nullptr) {
            unlink(due_, *first);
        }
        return first;
    }
    // Unlinks and returns any armed timer; null if there is none. For closing.
    [[nodiscard]] timer* pop_any() noexcept {
        for (unsigned level = 0; level < Policy::levels; ++level) {
            if (occupied_[level] != 0) {
                timer* first = slots_[level][static_cast<unsigned>(std::countr_zero(occupied_[level]))];
                erase(*first);
                return first;
            }
        }
        return pop_due();
    }

private:
    static constexpr unsigned slots_per_level = 1U << Policy::digit_bits;
    static constexpr unsigned digit_mask = slots_per_level - 1;
    static constexpr std::uint32_t due_position = Policy::levels * slots_per_level;
    static_assert(Policy::digit_bits <= 6, "one word of occupied bits per level");
    static_assert(Policy::levels * Policy::digit_bits + Policy::tick_bits >= 63, "every deadline there is can be armed");

    [[nodiscard]] tick start(unsigned level, unsigned slot) const noexcept {
        const unsigned shift = level * Policy::digit_bits;
        const tick above = current_ >> shift >> Policy::digit_bits << Policy::digit_bits;
        return (above | slot) << shift;
    }
    [[nodiscard]] tick next_slot() const noexcept {
        for (unsigned level = 0; level < Policy::levels; ++level) {
            if (occupied_[level] != 0) {
                return start(level, static_cast<unsigned>(std::countr_zero(occupied_[level])));
            }
        }
        return never;
    }
    // Moves the timers of the slot that current_ has just reached to lower levels, or to the due list.
    void empty_slot() noexcept {
        unsigned level = 0;
        while (occupied_[level] == 0) {
            ++level;
        }
        const auto slot = static_cast<unsigned>(std::countr_zero(occupied_[level]));
        timer* list = slots_[level][slot];
        slots_[level][slot] = nullptr;
        occupied_[level] &= ~(std::uint64_t{1} << slot);
        while (list != nullptr) {
            timer* t = list;
            unlink(list, *t);
            insert(*t);
        }
    }

    static void link(timer*& head, timer& t, std::uint32_t position) noexcept {
        t.position = position;
        if (head == nullptr) {
            t.next = t.prev = &t;
            head = &t;
        } else {
            t.next = head;
            t.prev = head->prev;
            head->prev->next = &t;
            head->prev = &t;
        }
    }
    static void unlink(timer*& head, timer& t) noexcept {
        if (t.next == &t) {
            head = nullptr;
        } else {
            t.prev->next = t.next;
            t.next->prev = t.prev;
            if (head == &t) {
                head = t.next;
            }
        }
        t.next = t.prev = nullptr;
    }

    tick current_ = 0;
    std::array<std::uint64_t, Policy::levels> occupied_{};
    std::array<std::array<timer*, slots_per_level>, Policy::levels> slots_{};
    timer* due_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
