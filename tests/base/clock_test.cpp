#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace {

using namespace std::chrono_literals;

constexpr roost::time_point at(long long ns) { return roost::time_point(roost::duration(ns)); }

TEST(clock, BASE_5_ordinary_deadlines_add_up) {
    static_assert(roost::ext::deadline_after(at(100), 5ns) == at(105));
    static_assert(roost::ext::deadline_after(at(100), -40ns) == at(60));
    static_assert(roost::ext::deadline_after(at(0), 1h) == at(3'600'000'000'000));
    static_assert(roost::ext::deadline_after(at(7), 0s) == at(7));
}

TEST(clock, BASE_5_far_deadlines_saturate) {
    using years = std::chrono::duration<long long, std::ratio<31556952>>;
    static_assert(roost::ext::deadline_after(at(1), roost::duration::max()) == roost::no_deadline);
    static_assert(roost::ext::deadline_after(at(1), years(100'000)) == roost::no_deadline);
    static_assert(roost::ext::deadline_after(at(1), years(-100'000)) == roost::time_point::min());
    static_assert(roost::ext::deadline_after(at(1), std::chrono::hours::max()) == roost::no_deadline);
    static_assert(roost::ext::deadline_after(at(-5), roost::duration::min()) == roost::time_point::min());
}

TEST(clock, BASE_5_what_is_not_a_number_is_the_earliest) {
    using seconds = std::chrono::duration<double>;
    EXPECT_EQ(roost::ext::deadline_after(at(1), seconds(std::numeric_limits<double>::quiet_NaN())),
              roost::time_point::min());
    static_assert(roost::ext::deadline_after(at(1), seconds(std::numeric_limits<double>::infinity())) == roost::no_deadline);
    static_assert(roost::ext::deadline_after(at(1), seconds(-1e300)) == roost::time_point::min());
}

TEST(clock, BASE_6_now_never_goes_back_and_coarse_is_never_ahead) {
    roost::time_point last = roost::now();
    for (int i = 0; i < 10'000; ++i) {
        const roost::time_point coarse = roost::seam::coarse_now();
        const roost::time_point fine = roost::now();
        ASSERT_GE(fine, last);
        ASSERT_LE(coarse, fine);
        last = fine;
    }
}

}  // namespace
