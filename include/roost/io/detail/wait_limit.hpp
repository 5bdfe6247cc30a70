#pragma once

// How long the waits of one direction of a stream may last. One timer per stream and direction, which a wait moves: when it
// fires early, it is armed again for the rest. So a wait costs a clock read, not an arm and a disarm. A wait arms it anew only
// if its limit passes before the timer fires, because the limit was lowered, or if it is on another executor.
//
// All fields are under lock_, and the timer is armed under it. It is disarmed without it: that may wait for fired().
//
// I1       while a wait is queued, the timer is armed, or fired() or a begin() that moves it runs
// I2       armed_ and service is null: the executor of the timer has ended; the timer is not armed any more

#include <roost/base/atomic.hpp>
#include <roost/exec/timer.hpp>
#include <roost/io/detail/readiness.hpp>

namespace roost::inline ROOST_ABI::io::detail {

class wait_limit final : private ext::timer {
public:
    static constexpr duration pause_length = std::chrono::milliseconds(50);

    explicit wait_limit(readiness& of) noexcept : timer(&wait_limit::fired), of_(&of) {}
    ~wait_limit() { end(); }

    // duration::max(): no limit. Applies to waits that begin later.
    void set(duration longest) noexcept;
    // Called when a system call failed for lack of a resource. take_pause() then returns true once. The wait that follows ends
    // after pause_length, as if an event had come.
    void pause() noexcept;
    [[nodiscard]] bool take_pause() noexcept;
    // Called before a wait is queued. Without timers there is no limit.
    void begin(ext::timer_service* timers) noexcept;
    // Requires that no wait is queued. Afterwards the timer does not fire.
    void end() noexcept;

private:
    enum class pause_state : std::uint8_t { none, wanted, taken, timed };

    static void fired(ext::timer& self) noexcept;
    // Each requires lock_.
    void arm() noexcept;
    void move() noexcept;
    [[nodiscard]] bool is_armed() const noexcept { return armed_ && service != nullptr; }  // I2

    readiness* of_;
    pause_state pause_ = pause_state::none;
    duration longest_ = duration::max();
    ext::timer_service* timers_ = nullptr;  // of the executor of the last wait
    ext::timer_service* armed_at_ = nullptr;  // those of the executor that will call fired(); only compared
    seam::small_mutex lock_;
    bool armed_ = false;
    bool moving_ = false;  // a begin() disarms it, and arms it again
    bool ending_ = false;
    time_point until_{};
};

}  // namespace roost::inline ROOST_ABI::io::detail
