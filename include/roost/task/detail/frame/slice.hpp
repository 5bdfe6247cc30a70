#pragma once

#include <roost/base/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// The time slice of a body that never has to wait: how many steps it makes between two readings of the clock, and how long it
// runs. A step is an await that is ready, or the start or end of an awaited task. A plain value.
class slice {
public:
    static constexpr duration longest = std::chrono::milliseconds(1);
    static constexpr std::uint8_t first_steps =
        8;  // before the first reading; under a deadline there is one before the first step
    static constexpr std::uint8_t most_steps = 32;
    static constexpr duration quick = std::chrono::microseconds(50);  // readings that are closer than this get rarer

    // Called when the body begins or continues.
    constexpr void begin() noexcept { steps_ = 0; }

    // Returns true if the body has run for its time slice and lets other work run. `steps()` is the number of steps to the
    // next reading.
    constexpr bool look(time_point at, bool limited) noexcept {
        if (steps_ == 0) {
            began_ = at;
            steps_ = limited ? std::uint8_t(1) : first_steps;
        } else {
            const auto more = static_cast<std::uint8_t>(std::min<unsigned>(steps_ * 2U, most_steps));
            steps_ = at - looked_ < quick ? more : std::uint8_t(1);
        }
        looked_ = at;
        return at - began_ >= longest;
    }
    [[nodiscard]] constexpr std::uint8_t steps() const noexcept { return steps_; }

private:
    time_point began_{};  // the first reading
    time_point looked_{};  // the last one
    std::uint8_t steps_ = 0;  // 0: not read yet
};

}  // namespace roost::inline ROOST_ABI::detail
