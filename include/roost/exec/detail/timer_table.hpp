#pragma once

// Timers in a wheel, under a lock: what every timer service has in common. Who looks at the wheel, and who tells it to look
// earlier, is the service's own business.
//
// Fields   timer::service  whose table it is in; written by arm(), constant until armed again, so that disarm() finds the lock
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

    // Earliest: the wheel has to be looked at sooner than anybody intended, from now on at next().
    armed_as arm(timer& t, timer_service& service) noexcept;
    // Says that it has not fired and will not. One that fires on another thread right now is waited for, without the lock.
    bool disarm(timer& t) noexcept;
    // Fires what is due by now, at most `batch` of them, each without the lock.
    void fire_due(time_point now, unsigned batch) noexcept;
    // Refuses from now on; how many timers were still armed: they will not fire. One that fires on another thread right now is
    // waited for, without the lock: afterwards none fires.
    std::size_t close() noexcept;

    [[nodiscard]] bool is_closed() const noexcept { return closed_; }
    [[nodiscard]] bool is_empty() const noexcept { return wheel_.is_empty(); }
    [[nodiscard]] bool has_next() const noexcept { return next_ != timer_wheel<>::never; }
    // When somebody intends to look at the wheel at the latest; no_deadline when nobody does.
    [[nodiscard]] time_point next() const noexcept { return timer_wheel<>::start_of(next_); }
    // Nobody intends to look.
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
    atomic<std::uint32_t> rounds_{0};
    timer_wheel<> wheel_;
};

}  // namespace roost::inline ROOST_ABI::detail
