#pragma once

#include <roost/pool/detail/pool_life.hpp>

#include <cstdint>
#include <exception>

namespace roost::inline ROOST_ABI::detail {

class pool_limits;

// Creating, checking and destroying the resources of a pool, and the suspension of creating after failures (pool_options::create_backoff).
class pool_creation {
public:
    pool_creation(pool_life& life, pool_queue& queue, pool_limits& limits) noexcept;

    // Takes the right to create, for a newcomer. Returns null if there is no room.
    [[nodiscard]] slot_base* try_reserve() noexcept;
    // Returns true if there is room but creating is suspended. Sets `why` to the last failure.
    [[nodiscard]] bool is_suspended(std::exception_ptr& why) noexcept;
    // Called by the holder of a permit if create is synchronous. Returns true if the resource was created; else w.cause is set.
    [[nodiscard]] bool create_here(pool_waiter& w) noexcept;
    // Creates for no particular waiter. Returns false if there is no room, or it failed.
    bool create_one() noexcept;
    // Starts the creation or check of every slot of a list.
    static void start(slot_base* first) noexcept;

    // The ends of what start() started. A failed check fails no acquire.
    void created(slot_base& s) noexcept;
    void create_failed(slot_base& s, std::exception_ptr why) noexcept;
    void checked(slot_base& s) noexcept;
    void check_failed(slot_base& s) noexcept;
    // The check failed and the resource is already destroyed.
    void check_lost(slot_base& s) noexcept;

    // Requires that s is out. Destroys its resource.
    void discard(slot_base& s) noexcept;
    // Requires that s is busy. Destroys its resource, on the pool's executor if there is one.
    void destroy(slot_base& s) noexcept;
    // Called when the pool is drained.
    void end() noexcept;

    // --- under the queue's lock ---------------------------------------------------------------------------------------------
    // Returns false while creating is suspended.
    [[nodiscard]] bool may_create() const noexcept;
    [[nodiscard]] const std::exception_ptr& last_failure() const noexcept { return last_failure_; }
    void note_failure(const std::exception_ptr& why) noexcept;
    // Called when waiters may be left in the queue while creating is suspended. Arms a timer for the end of the suspension.
    // Without timers the next acquire or return serves them.
    void serve_when_reopened() noexcept;

private:
    void start_one(slot_base& s) noexcept;
    void start_destroying(slot_base& s) noexcept;
    void note_created(slot_base& s) noexcept;
    void end_failed_check(slot_base& s) noexcept;
    void offer(slot_base& s, bool is_new) noexcept;
    void reopened() noexcept;

    pool_life& life_;
    const pool_settings& settings_;
    pool_queue& queue_;
    pool_limits& limits_;
    // Under the queue's lock.
    std::uint32_t failures_ = 0;  // in a row
    std::int64_t suspended_until_ = 0;
    std::exception_ptr last_failure_;
    bool reopening_lives_ = false;
    pool_alarm<pool_creation, &pool_creation::reopened> reopening_;  // the end of a suspension while waiters are queued
};

}  // namespace roost::inline ROOST_ABI::detail
