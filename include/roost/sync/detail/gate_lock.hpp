#pragma once

// The lock of a wait list, with the list's "not empty" bit in the same word.
//
// Why it is not simpler: with a lock and a separate gate word a registration costs one more read-modify-write, and the
// release of the lock and the update of the gate can be seen apart. Here taking the lock *is* raising the gate: after a
// thread has changed a condition and read 0, every later registration evaluates the condition after the change.
// It does not block like a mutex: unlocking would be a second read-modify-write that asks whether to wake a thread. It is
// held for a dozen instructions that call nothing. A thread that finds it held spins; if that takes long, the holder has
// lost its processor, and the thread sleeps briefly and checks again.
//
// word     bit 0 held      a thread holds the lock
//          bit 1 waited    the list is not empty; changes only while held
//
//   0 | waited --lock--> held [| waited] --unlock(is the list empty?)--> 0 | waited
//
// fields   everything the list owns: the holder
// I1       only the holder clears held
//
// id  operation            order    pairs  carries                                            fails in
// L1  lock: fetch_or       seq_cst  L2 L3  in: what the last holder wrote; and the raised     waiter_queue_model: lost_wake
//                                          gate, ordered before the condition's load
// L2  unlock: store        release  L1     out: what this holder wrote                        waiter_queue_model: wake_vs_cancel
// L3  is_idle: load        seq_cst  L1     the condition's change is ordered before it        waiter_queue_model: lost_wake
// L4  is_held: load        relaxed  -      nothing: L1 or L3 follows
// L5  lock_slow: load      relaxed  -      nothing: only a guess for L1

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class gate_lock {
public:
    static constexpr std::uint32_t held = 1;
    static constexpr std::uint32_t waited = 2;

    constexpr gate_lock() noexcept = default;
    gate_lock(const gate_lock&) = delete;
    gate_lock& operator=(const gate_lock&) = delete;

    void lock() noexcept {
        if ((word_.fetch_or(held, mo::seq_cst) & held) != 0) [[unlikely]] {  // L1
            lock_slow();
        }
    }
    // is_waited: true if the list is not empty now. The object may be gone when this returns.
    void unlock(bool is_waited) noexcept { word_.store(is_waited ? waited : 0, mo::release); }  // L2
    // True if no waiter is queued and the lock is free. One load.
    [[nodiscard]] bool is_idle() const noexcept { return word_.load(mo::seq_cst) == 0; }  // L3
    [[nodiscard]] bool is_held() const noexcept { return (word_.load(mo::relaxed) & held) != 0; }  // L4

private:
    void lock_slow() noexcept;

    atomic<std::uint32_t> word_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
