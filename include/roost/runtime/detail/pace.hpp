#pragma once

#include <roost/base/clock.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

// How many bodies a thread runs before it looks at what waits elsewhere: work from other threads, timers, its own oldest work.
// At most `most`, and as many as the last ones let expect in `period`, so that the clock is read once per look and not once per
// body. A plain value.
//
// Twice as often as promised, because work from outside and older own work get their turns alternately.
class pace {
public:
    static constexpr unsigned most = 31;  // no power of two, so that it does not beat in step with a program
    static constexpr duration period = std::chrono::microseconds(500);

    // Counts a body. Returns true when it was the last one before a look.
    [[nodiscard]] constexpr bool is_due() noexcept { return --left_ == 0; }
    // The next one is the last.
    [[nodiscard]] constexpr bool is_last() const noexcept { return left_ == 1; }

    // The look: how many bodies follow depends on how long the last ones took, at most twice as many as before.
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
    // After a sleep: nothing is known of what comes.
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
