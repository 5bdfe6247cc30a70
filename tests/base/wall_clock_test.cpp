#include <roost/base/wall_clock.hpp>

#include <gtest/gtest.h>

#include <string>

namespace roost {
using namespace ext;

namespace {

using namespace std::chrono;

std::string text_of(wall_time t) {
    char to[wall_text_size];
    return std::string(write_wall_time(t, to));
}

TEST(wall_clock, SVC_104_times_are_utc_with_milliseconds_as_iso_8601_has_it) {
    EXPECT_EQ(text_of(wall_time()), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(text_of(sys_days(year(2026) / 11 / 17) + hours(19) + minutes(9) + seconds(46) + milliseconds(123)),
              "2026-11-17T19:09:46.123Z");
    EXPECT_EQ(text_of(sys_days(year(2024) / 2 / 29) + hours(23) + minutes(59) + seconds(59) + nanoseconds(999'999'999)),
              "2024-02-29T23:59:59.999Z");
    EXPECT_EQ(text_of(wall_time() - nanoseconds(1)), "1969-12-31T23:59:59.999Z");
}

TEST(wall_clock, SVC_104_the_clock_goes_on_from_a_plausible_year) {
    const wall_time first = wall_now();
    EXPECT_GT(first, wall_time(sys_days(year(2020) / 1 / 1)));
    EXPECT_EQ(text_of(first).size(), wall_text_size);
}

}  // namespace
}  // namespace roost
