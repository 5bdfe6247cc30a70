#include <roost/exec/detail/observing.hpp>

#include <roost/exec/detail/flight_recorder.hpp>

#include <gtest/gtest.h>

namespace {

using roost::detail::flight_recorder;
using roost::detail::observing;

TEST(observing, OBS_184_is_on_while_one_of_its_observers_is) {
    EXPECT_FALSE(observing::any());
    observing::set(observing::by::owners, true);
    flight_recorder::start({.records = 16, .threads = 1, .names = 16});
    EXPECT_TRUE(observing::any());
    observing::set(observing::by::owners, false);
    EXPECT_TRUE(observing::any());
    flight_recorder::stop();
    EXPECT_FALSE(observing::any());
}

}  // namespace
