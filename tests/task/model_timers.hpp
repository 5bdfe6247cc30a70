#pragma once

// An executor with one timer, for models of deadlines.

#include <roost/exec/timer.hpp>

#include "model_rig.hpp"

namespace model_rig {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

// One timer, which fires when some thread says so. disarm() waits for a fired() that runs, as every service does.
class one_timer final : public timer_service {
public:
    time_point now() noexcept override {
        return asked_++ == 0 || !passes ? time_point() : time_point(std::chrono::hours(2));
    }
    bool arm(timer& t) noexcept override {
        armed_ = &t;
        state_.store(armed, mo::release);  // K1
        return true;
    }
    bool disarm(timer&) noexcept override {
        for (;;) {
            std::uint32_t expected = armed;
            if (state_.compare_exchange_strong(expected, idle, mo::acq_rel, mo::acquire)) {  // K2
                return true;
            }
            if (expected == idle) {
                return false;
            }
            wait_on(state_, firing);
        }
    }
    void fire() noexcept { fire_until(no_deadline); }
    // Unless it is armed for later.
    void fire_until(time_point at) noexcept {
        std::uint32_t expected = armed;
        if (state_.compare_exchange_strong(expected, firing, mo::acq_rel, mo::relaxed)) {  // K2
            const bool is_due = armed_->deadline() <= at;
            if (is_due) {
                armed_->fire();
            }
            state_.store(is_due ? idle : armed, mo::release);  // K3
            wake_on(&state_, 1);
        }
    }
    [[nodiscard]] bool is_armed() const noexcept { return state_.load(mo::acquire) == armed; }
    [[nodiscard]] time_point armed_for() const noexcept { return armed_->deadline(); }

    bool passes = false;  // after it was asked for the first time, two hours have passed

private:
    static constexpr std::uint32_t idle = 0;
    static constexpr std::uint32_t armed = 1;
    static constexpr std::uint32_t firing = 2;
    int asked_ = 0;
    timer* armed_ = nullptr;  // K1, K2
    atomic<std::uint32_t> state_{idle};
};

class timed_executor final : public executor {
public:
    bool post(work& w) noexcept override { return inner.post(w); }
    timer_service* timers() noexcept override { return &clock; }
    roost::testing::manual_executor inner;
    one_timer clock;
};

}  // namespace model_rig
