#pragma once

#include <roost/pool/detail/pool_life.hpp>

#include <cstdint>
#include <exception>

namespace roost::inline ROOST_ABI::detail {

class drop_limit;
class pool_creation;

// Attempts to create, check or destroy a resource, and their limits. When a limit passes, the slot is freed and the attempt
// becomes an aside.
class pool_limits {
public:
    pool_limits(pool_life& life, pool_queue& queue, pool_creation& creation) noexcept;

    // Starts the limit of the current attempt. Requires that the slot is empty: at the limit another attempt may use it.
    void arm(slot_base& s, duration limit) noexcept;
    // Records the job that runs the attempt, so that its limit can cancel it.
    void note_running(slot_base& s, std::uint32_t attempt, node& job) noexcept;
    // Called at the end of an attempt that the pool started. Returns true if the attempt is still current. False: its limit has
    // passed, and the caller disposes of the result.
    [[nodiscard]] bool claim_attempt(slot_base& s, std::uint32_t attempt) noexcept;
    void end_late() noexcept;  // of an attempt past its limit

    void begin_drop() noexcept;  // of a resource in no slot
    void end_drop() noexcept;
    // Returns null if there is no limit, or no memory for one.
    [[nodiscard]] drop_limit* make_drop_limit() const noexcept;

    void limit_passed(slot_base& s) noexcept;  // called by the timer
    void expire_attempt(slot_base& s) noexcept;  // then, on the pool's executor

private:
    [[nodiscard]] std::exception_ptr limit_error(int stripe, pool_error::step operation) const noexcept;

    pool_life& life_;
    pool_queue& queue_;
    pool_creation& creation_;
};

}  // namespace roost::inline ROOST_ABI::detail
