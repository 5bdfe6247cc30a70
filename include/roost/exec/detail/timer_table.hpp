#pragma once

// Timers in a wheel, under a lock: the common part of all timer services. Which thread polls the wheel, and how it is notified
// to poll earlier, is up to the service.
//
// Fields   timer::service  the service whose table it is in; set by arm(), constant until armed again: disarm() finds the lock
//          timer::state    idle, armed, fired; under the lock, like the wheel
//          firing_         the timer whose fired() runs right now; only compared, it may be gone already
// I1       a timer is in the wheel exactly while its state is armed
//
// id  operation                 order    pairs  carries                                                 fails in
// T1  rounds_ fetch_add         relaxed  T2     nothing: changed and compared under the lock            (floor)
// T2  rounds_ load              relaxed  T1     nothing: as T1                                          (floor)

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/timer_wheel.hpp>
#include <roost/exec/timer.hpp>

#include <cstddef>

namespace roost::inline ROOST_ABI::detail {

class timer_table {
public:
    enum class armed_as { refused, in_time, earliest };

    void lock() noexcept { lock_.lock(); }
    void unlock() noexcept { lock_.unlock(); }

    // --- everything below: only with the lock held ---

    // Returns earliest if the wheel has to be polled earlier than planned: at next() from now on.
    armed_as arm(timer& t, timer_service& service) noexcept;
    // Returns true if t has not fired and never will. If t fires on another thread right now, blocks until it has, unlocked.
    bool disarm(timer& t) noexcept;
    // Fires at most `batch` timers that are due at `now`, each without the lock.
    void fire_due(time_point now, unsigned batch) noexcept;
    // Refuses timers from now on. Returns how many were still armed: they never fire. If a timer fires on another thread right
    // now, blocks until it has, unlocked. Afterwards none fires.
    std::size_t close() noexcept;

    [[nodiscard]] bool is_closed() const noexcept { return closed_; }
    [[nodiscard]] bool is_empty() const noexcept { return wheel_.is_empty(); }
    // Returns how many timers are armed.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool has_next() const noexcept { return next_ != timer_wheel<>::never; }
    // Returns when the wheel is polled at the latest; no_deadline if no poll is planned.
    [[nodiscard]] time_point next() const noexcept { return timer_wheel<>::start_of(next_); }
    // No poll is planned from now on.
    void forget_next() noexcept { next_ = timer_wheel<>::never; }

private:
    enum : std::uint32_t { idle = 0, armed = 1, fired = 2 };

    void wait_out(timer& t) noexcept;

    small_mutex lock_;
    bool closed_ = false;
    bool awaited_ = false;
    std::uint32_t firing_thread_ = 0;
    timer* firing_ = nullptr;
    timer_wheel<>::tick next_ = timer_wheel<>::never;
    std::size_t size_ = 0;
    atomic<std::uint32_t> rounds_{0};
    timer_wheel<> wheel_;
};

}  // namespace roost::inline ROOST_ABI::detail
