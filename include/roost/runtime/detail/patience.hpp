#pragma once

#include <roost/base/clock.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

// For how many rounds a worker without work searches before it sleeps. A search spends processor time in the hope that work
// comes before the search ends. A sleep shows what a whole search would have met: searches get longer when several sleeps in a
// row were so short that a whole search would have outlasted them, and shorter after any other sleep. A single short sleep
// proves nothing: where work comes at random, as answers of a server do, long searches after each would be in vain mostly.
// A plain value.
class patience {
public:
    static constexpr unsigned least = 3;  // less than a microsecond
    static constexpr unsigned proof = 3;  // short sleeps in a row
    static constexpr duration whole_search = std::chrono::microseconds(50);  // about

    constexpr explicit patience(unsigned most = least) noexcept : most_(most), rounds_(most) {}

    [[nodiscard]] constexpr unsigned rounds() const noexcept { return rounds_; }
    // Returns false when there is nothing to learn: the clock need not be read.
    [[nodiscard]] constexpr bool adapts() const noexcept { return most_ > least; }
    // After a search of rounds() rounds in vain, and a sleep.
    constexpr void slept(duration d) noexcept {
        const duration rest_of_search = whole_search / most_ * (most_ - rounds_);
        if (d >= rest_of_search) {
            short_sleeps_ = 0;
            rounds_ = std::max(rounds_ / 2, least);
        } else if (++short_sleeps_ >= proof) {
            rounds_ = std::min(rounds_ * 2, most_);
        }
    }

private:
    unsigned most_;
    unsigned rounds_;
    unsigned short_sleeps_ = 0;
};

}  // namespace roost::inline ROOST_ABI::detail
