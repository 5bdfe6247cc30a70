#pragma once

#include <roost/base/clock.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

// How many rounds a worker without work searches before it sleeps. A search spends processor time in the hope that work
// arrives before it ends. A sleep shows what a whole search would have met. Searches get longer after several sleeps in a
// row that a whole search would have outlasted, and shorter after any other sleep. A single short sleep proves nothing:
// where work arrives at random, as a server's answers do, long searches would mostly be in vain. A plain value.
class patience {
public:
    static constexpr unsigned least = 3;  // less than a microsecond
    static constexpr unsigned proof = 3;  // short sleeps in a row
    static constexpr duration whole_search = std::chrono::microseconds(50);  // about

    constexpr explicit patience(unsigned most = least) noexcept : most_(most), rounds_(most) {}

    [[nodiscard]] constexpr unsigned rounds() const noexcept { return rounds_; }
    // Returns false if there is nothing to learn, so the clock need not be read.
    [[nodiscard]] constexpr bool adapts() const noexcept { return most_ > least; }
    // Called after a vain search of rounds() rounds, and a sleep of length d.
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
