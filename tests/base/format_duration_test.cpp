#include <roost/base/format_duration.hpp>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using roost::duration;
using roost::format_duration;

TEST(format_duration, OBS_1_whole_milliseconds_below_a_second) {
    EXPECT_EQ(format_duration(0s), "0 ms");
    EXPECT_EQ(format_duration(400us), "0 ms");
    EXPECT_EQ(format_duration(600us), "1 ms");
    EXPECT_EQ(format_duration(250ms), "250 ms");
    EXPECT_EQ(format_duration(999ms), "999 ms");
}

TEST(format_duration, OBS_1_three_digits_above) {
    EXPECT_EQ(format_duration(999'600us), "1 s");
    EXPECT_EQ(format_duration(1s), "1 s");
    EXPECT_EQ(format_duration(1250ms), "1.25 s");
    EXPECT_EQ(format_duration(2500ms), "2.5 s");
    EXPECT_EQ(format_duration(9'999ms), "10 s");
    EXPECT_EQ(format_duration(12'400ms), "12.4 s");
    EXPECT_EQ(format_duration(90s), "90 s");
    EXPECT_EQ(format_duration(99'990ms), "100 s");
    EXPECT_EQ(format_duration(599s), "599 s");
}

TEST(format_duration, OBS_1_minutes_and_hours) {
    EXPECT_EQ(format_duration(10min), "10 min");
    EXPECT_EQ(format_duration(12min + 30s), "12.5 min");
    EXPECT_EQ(format_duration(9h), "540 min");
    EXPECT_EQ(format_duration(10h), "10 h");
    EXPECT_EQ(format_duration(30h), "30 h");
    EXPECT_EQ(format_duration(1000h), "1000 h");
}

TEST(format_duration, OBS_1_negative_and_extreme) {
    EXPECT_EQ(format_duration(-400us), "0 ms");
    EXPECT_EQ(format_duration(-40ms), "-40 ms");
    EXPECT_EQ(format_duration(-1500ms), "-1.5 s");
    EXPECT_EQ(format_duration(duration::max()), "2562048 h");
    EXPECT_EQ(format_duration(duration::min()), "-2562048 h");
}

}  // namespace
