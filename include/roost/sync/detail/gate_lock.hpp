#pragma once

// The lock of a wait list, with the list's "somebody waits" bit in the same word.
//
// Why it is not simpler: with a lock and a separate gate word a registration costs one more read-modify-write, and a
// release of the lock and the update of the gate can be seen apart. Here taking the lock *is* raising the gate: whoever
// changes a condition and then reads 0 knows that every later registration will evaluate the condition after the change.
//
// word     bit 0 held      somebody is inside
//          bit 1 parked    threads may be blocked on the word
//          bit 2 waited    the list is not empty; changes only while held
//
//   0 | waited --lock--> held [| waited] --unlock(is the list empty?)--> 0 | waited
//   held --lock by another--> held | parked        effect: block
//   held | parked --unlock--> 0 | waited           effect: wake one, which takes the lock with `parked` still set
//
// fields   everything the list owns: whoever is inside
// I1       only the holder clears held; parked is set only while held
//
// id  operation            order            pairs     carries                                        fails in
// L1  lock: load           relaxed          -         nothing: only a guess for L2
// L2  lock: CAS            seq_cst/relaxed  L3 L4     in: what the last holder wrote; and the raised  waiter_queue_model: lost_wake
//                                                     gate, ordered before the condition's load
// L3  unlock: exchange     release          L2        out: what this holder wrote                     waiter_queue_model: wake_vs_cancel
// L4  is_idle: load        seq_cst          L2        the condition's change is ordered before it     waiter_queue_model: lost_wake
// L5  is_held: load        relaxed          -         nothing: L4 or L2 follows
// L6  lock_slow: load      relaxed          -         nothing: only a guess for L2 and L7
// L7  lock_slow: CAS       relaxed          -         nothing: asks the holder to wake somebody

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class gate_lock {
public:
    static constexpr std::uint32_t held = 1;
    static constexpr std::uint32_t parked = 2;
    static constexpr std::uint32_t waited = 4;

    constexpr gate_lock() noexcept = default;
    gate_lock(const gate_lock&) = delete;
    gate_lock& operator=(const gate_lock&) = delete;

    void lock() noexcept {
        std::uint32_t seen = word_.load(mo::relaxed) & waited;  // L1
        if (!word_.compare_exchange_strong(seen, seen | held, mo::seq_cst, mo::relaxed)) [[unlikely]] {  // L2
            lock_slow();
        }
    }
    // is_waited: whether the list has anybody in it now. The object may be gone when this returns.
    void unlock(bool is_waited) noexcept {
        const std::uint32_t old = word_.exchange(is_waited ? waited : 0, mo::release);  // L3
        if ((old & parked) != 0) [[unlikely]] {
            wake_on(&word_, 1);
        }
    }
    // One load: nobody waits and nobody is registering.
    [[nodiscard]] bool is_idle() const noexcept { return word_.load(mo::seq_cst) == 0; }  // L4
    [[nodiscard]] bool is_held() const noexcept { return (word_.load(mo::relaxed) & held) != 0; }  // L5

private:
    void lock_slow() noexcept;

    atomic<std::uint32_t> word_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
