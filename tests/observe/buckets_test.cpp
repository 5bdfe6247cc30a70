#include <roost/observe/buckets.hpp>

#include <roost/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using roost::metrics::buckets;

TEST(buckets, OBS_153_bounds_are_finite_positive_and_increasing) {
    EXPECT_EQ(buckets::seconds().bounds().front(), 0.0001);
    EXPECT_EQ(buckets::seconds().bounds().back(), 100);
    EXPECT_EQ(buckets::bytes().resolution(), 1);
    EXPECT_EQ(buckets::bytes().bounds().back(), 1073741824);
    EXPECT_EQ(buckets::exponential(1, 2, 4), (buckets{1, 2, 4, 8}));
    EXPECT_THROW(buckets({1, 1}), roost::error);
    EXPECT_THROW(buckets({0}), roost::error);
    EXPECT_THROW(buckets({2, 1}), roost::error);
    EXPECT_THROW(buckets({1, HUGE_VAL}), roost::error);
    EXPECT_THROW(buckets({std::nan("")}), roost::error);
    EXPECT_THROW(static_cast<void>(buckets{1}.resolution(0)), roost::error);
    EXPECT_THROW(static_cast<void>(buckets::exponential(1, 1.1, 61)), roost::error);
}

}  // namespace
