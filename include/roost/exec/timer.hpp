#pragma once

#include <roost/base/clock.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::ext {

class timer_service;

// A deadline, intrusive: it lives in the object that waits for it. A thread of the service calls `fired` once. `fired` must
// be short: claim and post. The fields below `for services` belong to the service that armed it.
class timer {
public:
    using fired_function = void (*)(timer&) noexcept;

    constexpr explicit timer(fired_function fired) noexcept : fired_(fired) {}
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
    void set_deadline(time_point t) noexcept { deadline_ = t; }  // requires that it is not armed
    void fire() noexcept { fired_(*this); }

    // For services: two links, a position (slot number or heap index) and a state. A service that ends sets `service` of the
    // timers that are still armed to null, if their owners may outlive it.
    timer* next = nullptr;
    timer* prev = nullptr;
    union {
        std::uint32_t position = 0;
        [[deprecated("use position")]] std::uint32_t place;
    };
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
    // Arms t. Returns false if the service is closed; then t does not fire. A deadline in the past fires soon, never inside
    // arm(). Thread-safe.
    virtual bool arm(timer& t) noexcept = 0;
    // Returns true if t has not fired and never will. If it has fired, blocks until fired() has returned, unless fired() itself
    // is the caller. So t may be destroyed either way. Thread-safe.
    virtual bool disarm(timer& t) noexcept = 0;

protected:
    ~timer_service() = default;
};

}  // namespace roost::inline ROOST_ABI::ext
