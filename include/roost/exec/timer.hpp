#pragma once

#include <roost/base/clock.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI {

class timer_service;

// A deadline that lives in whoever waits for it. `fired` runs once, on a thread of the service, and must be short: claim and
// post. Armed and disarmed by the service it was given to; the fields below `for services` belong to that service.
class timer {
public:
    using fired_function = void (*)(timer&) noexcept;

    constexpr explicit timer(fired_function fired) noexcept : fired_(fired) {}
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
    void set_deadline(time_point t) noexcept { deadline_ = t; }  // only while not armed
    void fire() noexcept { fired_(*this); }

    // for services: two links and a place of their choice (slot number, heap index, state).
    timer* next = nullptr;
    timer* prev = nullptr;
    std::uint32_t place = 0;
    std::uint32_t state = 0;
    timer_service* service = nullptr;

private:
    time_point deadline_ = no_deadline;
    fired_function fired_;
};

// Timers of a runtime, of an event loop, or of virtual time.
class timer_service {
public:
    timer_service() = default;
    timer_service(const timer_service&) = delete;
    timer_service& operator=(const timer_service&) = delete;

    [[nodiscard]] virtual time_point now() noexcept = 0;
    // From any thread. False when the service is closed: the timer will not fire. A deadline in the past fires soon, never
    // inside arm().
    virtual bool arm(timer& t) noexcept = 0;
    // From any thread. True: it has not fired and never will. False: it has fired; when this returns, fired() has returned
    // too (unless called from inside it), so the timer may be destroyed either way.
    virtual bool disarm(timer& t) noexcept = 0;

protected:
    ~timer_service() = default;
};

}  // namespace roost::inline ROOST_ABI
