#pragma once

// The queue of a pool: waiters in order of arrival for all stripes, and the lock of the pool.
//
// 1. Why it is not simpler: pool_stripes.hpp.
//
// 2.-4. The queue's side of a stripe's transitions:
//
//      acquire --idle--> take            fast: one CAS
//              --spare--> reserve        create: at once by the caller, or by the pool if create is awaitable
//              --neither--> under the lock: set `waited` in every stripe, check again, enqueue
//      release --not waited--> put       fast: one CAS
//              --waited--> under the lock: to the first waiter, never through the word
//      destroyed, or creation failed --waiter--> recreate: the right to create goes to the first waiter without one
//
// 5. Fields    under the lock, except may_barge_. The lock also guards the slots' fields that say so, and the states of creation,
//              upkeep and the pool's end
//
// 6. I5  a waiter is queued and the lock is free => every stripe has `waited` set, and no stripe has an idle or free slot.
//        Exceptions: the first waiter is a parked thread that was notified; or all waiters have a check or creation under way;
//        or creating is suspended and slots are only free
//    I6  the queue is empty and the lock is free => no stripe has `waited` set
//    I7  a slot is being created for at most one waiter, a waiter has at most one slot being created for it
//
// 7. Ordering table
// id  operation              order            pairs   carries                                             fails in
// T8  may_barge: load, store relaxed          -       nothing: a hint; the word decides                   (floor)

#include <roost/pool/detail/pool_waiter.hpp>
#include <roost/sync/detail/wait_list.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class pool_creation;
class pool_life;
class pool_settings;
class pool_stripes;

class pool_queue {
public:
    pool_queue(pool_life& life, pool_creation& creation) noexcept;

    // Returns true if w was enqueued, false if it was served at once (see given).
    [[nodiscard]] bool enqueue(pool_waiter& w) noexcept;
    [[nodiscard]] bool cancel(pool_waiter& w, claim as) noexcept;
    // Blocks the thread until it was served or the deadline passed. Returns true if it was served.
    [[nodiscard]] bool acquire_in_thread(pool_waiter& result, time_point deadline) noexcept;
    // Requires that s is out. Returns it to the pool.
    void put(slot_base& s) noexcept;
    // Requires that s is busy and has no resource. Frees it.
    void emptied(slot_base& s) noexcept;
    // Requires that s is out. Starts its awaitable check, for no particular waiter.
    void check_aside(slot_base& s) noexcept;
    // Serves the waiters that can be served now.
    void serve() noexcept;
    void refuse_all(gift why) noexcept;
    [[nodiscard]] std::uint32_t size_approx() const noexcept { return waiters_.size_approx(); }

    void lock() noexcept { waiters_.lock(); }
    void unlock() noexcept { waiters_.unlock(); }
    // Releases the lock and runs the effects. The pool may be freed afterwards.
    void unlock_and_run(pool_effects& fx) noexcept;

    // --- under the lock -----------------------------------------------------------------------------------------------------
    [[nodiscard]] bool is_empty() const noexcept { return waiters_.is_empty(); }
    void give(pool_waiter& w, gift what, slot_base* s, pool_effects& fx) noexcept;
    void give_all(gift what, pool_effects& fx) noexcept;
    // Hands idle resources and rights to create to the first waiters.
    void serve(pool_effects& fx) noexcept;
    // Requires that s is out. Hands it to the first waiter, or puts it back into its stripe.
    void put(slot_base& s, pool_effects& fx) noexcept;
    // Requires that s is out and a waiter is queued. Hands it to the first waiter, which does not examine it again.
    void hand_over(slot_base& s, pool_effects& fx) noexcept;
    // Requires that s is busy and has no resource. The right to create goes to the first waiter without one, else the slot goes
    // back to its stripe.
    void empty(slot_base& s, pool_effects& fx) noexcept;

private:
    [[nodiscard]] bool enqueue_with_check(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept;
    [[nodiscard]] bool notify_thread(pool_waiter& w, pool_effects& fx) noexcept;
    [[nodiscard]] pool_waiter* first() const noexcept { return static_cast<pool_waiter*>(waiters_.front()); }
    [[nodiscard]] pool_waiter* first_without_creation() noexcept;
    [[nodiscard]] slot_base* pick(gift& what, pool_effects& fx) noexcept;
    void create_for(pool_waiter& w, slot_base& s, pool_effects& fx) noexcept;
    void begin_check(slot_base& s, pool_waiter* owner, pool_effects& fx) noexcept;
    void mark_waited(bool waited) noexcept;
    void settle() noexcept;
    void serve_the_rest(pool_effects& fx) noexcept;
    void fail_hopeless(pool_effects& fx) noexcept;
    void serve_when_reopened() noexcept;
    template <class Node>
    [[nodiscard]] bool sleep(Node& self, time_point deadline) noexcept;

    wait_list waiters_;
    bool is_waited_ = false;
    atomic<bool> may_barge_{false};
    pool_life& life_;
    pool_stripes& stripes_;
    const pool_settings& settings_;
    pool_creation& creation_;
};

}  // namespace roost::inline ROOST_ABI::detail
