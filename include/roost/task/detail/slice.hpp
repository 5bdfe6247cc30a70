#pragma once

#include <roost/base/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// How a body that never has to wait shares its thread: how many steps it makes between two looks at the clock, and for how
// long it goes on. A step is an await that is ready, or the start or end of an awaited task. A plain value.
class slice {
public:
    static constexpr duration longest = std::chrono::milliseconds(1);
    static constexpr std::uint8_t first_steps =
        8;  // before the first look; under a deadline there is one before the first step
    static constexpr std::uint8_t most_steps = 32;
    static constexpr duration quick = std::chrono::microseconds(50);  // looks that are closer than this get rarer

    // The body begins or goes on.
    constexpr void begin() noexcept { steps_ = 0; }

    // Returns true when the body has run for long enough: it lets others run. `steps()` says when to look again.
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
    time_point began_{};  // the first look
    time_point looked_{};  // the last one
    std::uint8_t steps_ = 0;  // 0: not looked yet
};

}  // namespace roost::inline ROOST_ABI::detail
