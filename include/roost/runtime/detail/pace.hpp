#pragma once

#include <roost/base/clock.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

// How many bodies a thread runs before it polls the other sources: work from other threads, timers, its own oldest work. At
// most `most`, and as many as should fit in `period`, estimated from the last ones. So the clock is read once per poll, not
// once per body. A plain value.
//
// The period is half of what is promised, because work from outside and older own work alternate.
class pace {
public:
    static constexpr unsigned most = 31;  // no power of two, so that it does not resonate with the period of a program
    static constexpr duration period = std::chrono::microseconds(500);

    // Counts a body. Returns true if it was the last one before a poll.
    [[nodiscard]] constexpr bool is_due() noexcept { return --left_ == 0; }
    // Returns true if the next body is the last one before a poll.
    [[nodiscard]] constexpr bool is_last() const noexcept { return left_ == 1; }

    // Records a poll. How long the last bodies took decides how many follow, at most twice as many as before.
    constexpr void looked(time_point at) noexcept {
        const unsigned ran = bodies_ - left_;
        if (at_ != time_point::min() && ran != 0) {
            const duration took = std::max(at - at_, duration(1));
            const auto fit = static_cast<unsigned>(std::min<duration::rep>(period * ran / took, most));
            bodies_ = std::clamp(fit, 1U, std::min(bodies_ * 2, most));
        }
        at_ = at;
        left_ = bodies_;
    }
    // After a sleep: the durations of earlier bodies do not count.
    constexpr void restart() noexcept {
        at_ = time_point::min();
        left_ = bodies_ = first;
    }

private:
    static constexpr unsigned first = 4;

    unsigned bodies_ = first;
    unsigned left_ = first;
    time_point at_ = time_point::min();
};

}  // namespace roost::inline ROOST_ABI::detail
