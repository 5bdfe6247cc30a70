#pragma once

// One direction of a descriptor: whether a system call is worth trying, and who waits until it is.
//
//   driver:     set()                                        an event came
//   user:       seen = look(); the call would have blocked:  clear(seen); wait
//
// Why it is not simpler: the kernel reports a change once. A user that finds nothing clears the ready bit, but must not clear an
// event that came during its call. So every event changes the word, and clear() only succeeds on the word that was seen before
// the call.
//
// word     bit 0 ready     a call is worth trying
//          bit 1 waited    the list is not empty; changes only under the list's lock
//          bit 2 ended     the last event said that the peer sends no more; cleared with ready
//          bit 3 closed    by the owner: final until open(); every wait passes
//          bits 4-31       number of events
//
//   idle --set--> ready --clear(seen)--> idle          fast paths: one compare-exchange each
//   idle --wait--> waited --set--> ready               under the lock; effect: wake every waiter, outside it
//   ready --set--> ready, counted --clear(seen before)--> unchanged
//
// I1       ready or closed, and waited, are never both true
//
// id  operation              order            pairs     carries                                        fails in
// N1  look: load             acquire          N2 N3     what set() came after                          readiness_model: publish
// N2  set: CAS               release/relaxed  N1 N4     out: the driver's writes                       readiness_model: publish
// N3  set, waited: CAS       release/relaxed  N1 N4     out: as N2                                     readiness_model: late_pass
// N4  wait: CAS              relaxed/acquire  N2 N3     seen ready: the driver's writes                readiness_model: late_wait
// N5  clear: CAS             relaxed          -         nothing: only an unchanged word is changed     (floor)
// N6  under the lock: store  relaxed          -         nothing: while waited is set, the word changes only under the lock
// N7  set: load              relaxed          -         nothing: a guess for N2                        (floor)
// N8  close: CAS             relaxed          -         nothing: a user that sees it closed reads nothing else   (floor)

#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::io::detail {

using roost::detail::wait_list;
using roost::ext::claim;
using roost::ext::wait_target;
using roost::ext::waiter;

class readiness {
public:
    // The word before a system call.
    class snapshot {
    public:
        explicit constexpr snapshot(std::uint32_t word) noexcept : word_(word) {}
        [[nodiscard]] constexpr bool is_ready() const noexcept { return (word_ & (ready_bit | closed_bit)) != 0; }
        [[nodiscard]] constexpr bool is_ended() const noexcept { return (word_ & ended_bit) != 0; }
        [[nodiscard]] constexpr bool is_closed() const noexcept { return (word_ & closed_bit) != 0; }

    private:
        friend class readiness;
        std::uint32_t word_;
    };

    // is_ready: a system call is worth trying at once.
    constexpr explicit readiness(bool is_ready) noexcept : word_(is_ready ? ready_bit : 0) {}
    readiness(const readiness&) = delete;
    readiness& operator=(const readiness&) = delete;

    [[nodiscard]] snapshot look() const noexcept { return snapshot(word_.load(seam::mo::acquire)); }  // N1
    // Called after a system call that would have blocked, or took all there was. Changes nothing if an event came since `seen`.
    void clear(snapshot seen) noexcept {
        std::uint32_t expected = seen.word_;
        if ((expected & (closed_bit | waited_bit)) == 0) {
            word_.compare_exchange_strong(expected, expected & ~(ready_bit | ended_bit), seam::mo::relaxed,
                                          seam::mo::relaxed);  // N5
        }
    }
    // Called for an event. Wakes every waiter, with post_last(): behind the work that its executor has queued.
    void set(bool is_ended) noexcept;
    // As set(), but returns the waiters, for the caller to deliver.
    [[nodiscard]] roost::detail::wake_chain take_for_event(bool is_ended) noexcept;
    // Wakes every waiter. From now on no wait blocks, and look() returns is_closed().
    void close() noexcept;
    // Resets it for another descriptor. Requires that no waiter is queued.
    void open(bool is_ready) noexcept { word_.store(is_ready ? ready_bit : 0, seam::mo::relaxed); }  // N6

    // --- as the source of a wait ---
    [[nodiscard]] bool try_pass() const noexcept { return look().is_ready(); }
    // Returns false if there is no need to wait.
    [[nodiscard]] bool enqueue(waiter& w) noexcept {
        return enqueue_unless(w, [] { return false; }) == queued::yes;
    }
    enum class queued : std::uint8_t { yes, is_ready, refused };
    // As above. Returns refused if `is_refused()` is true under the lock.
    template <class Refused>
    [[nodiscard]] queued enqueue_unless(waiter& w, Refused is_refused) noexcept {
        waiters_.lock();
        const queued how = is_refused() ? queued::refused : mark_waited() ? queued::yes : queued::is_ready;
        if (how == queued::yes) {
            waiters_.push_back(w);
        }
        waiters_.unlock();
        return how;
    }
    // Each returns true if it claimed the waiter.
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept { return !w.is_claimed() && cancel_locked(w, as); }
    // As above, but always takes the lock. An operation that is about to queue again sees, under the lock, what the caller
    // wrote before.
    [[nodiscard]] bool cancel_locked(waiter& w, claim as) noexcept;
    // Claims every waiter as expired, for the caller to deliver.
    [[nodiscard]] roost::detail::wake_chain take_expired() noexcept;
    [[nodiscard]] std::uint32_t waiters_approx() const noexcept { return waiters_.size_approx(); }

private:
    static constexpr std::uint32_t ready_bit = 1;
    static constexpr std::uint32_t waited_bit = 2;
    static constexpr std::uint32_t ended_bit = 4;
    static constexpr std::uint32_t closed_bit = 8;
    static constexpr std::uint32_t one_event = 16;

    [[nodiscard]] static constexpr std::uint32_t after_event(std::uint32_t word, bool is_ended) noexcept {
        return ((word & ~waited_bit) | ready_bit | (is_ended ? ended_bit : 0)) + one_event;
    }
    [[nodiscard]] bool mark_waited() noexcept;

    seam::atomic<std::uint32_t> word_;
    wait_list waiters_;
};

}  // namespace roost::inline ROOST_ABI::io::detail
