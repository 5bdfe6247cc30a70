#include <roost/base/detail/log_buckets.hpp>

#include <gtest/gtest.h>

namespace {

using map = roost::detail::log_buckets;

static_assert(map::count == 976);
static_assert(map::index(0) == 0 && map::index(~std::uint64_t(0)) == map::count - 1);

TEST(log_buckets, OBS_141_the_buckets_follow_each_other_without_gap_over_all_values) {
    EXPECT_EQ(map::lowest(0), 0U);
    for (std::size_t b = 0; b < map::count; ++b) {
        ASSERT_LE(map::lowest(b), map::highest(b));
        ASSERT_EQ(map::index(map::lowest(b)), b);
        ASSERT_EQ(map::index(map::highest(b)), b);
        ASSERT_EQ(map::index(map::middle(b)), b);
        if (b + 1 < map::count) {
            ASSERT_EQ(map::highest(b) + 1, map::lowest(b + 1));
        }
    }
    EXPECT_EQ(map::highest(map::count - 1), ~std::uint64_t(0));
}

TEST(log_buckets, OBS_141_the_middle_is_within_a_thirtysecond_of_every_value) {
    for (std::size_t b = 0; b < map::count; ++b) {
        const auto low = static_cast<double>(map::lowest(b));
        const auto half = static_cast<double>(map::middle(b) - map::lowest(b));
        const auto other_half = static_cast<double>(map::highest(b) - map::middle(b));
        ASSERT_LE(half, low / 32) << b;
        ASSERT_LE(other_half, low / 32) << b;
    }
}

TEST(log_buckets, OBS_141_small_values_have_a_bucket_each) {
    for (std::uint64_t v = 0; v < 32; ++v) {
        EXPECT_EQ(map::middle(map::index(v)), v);
    }
}

}  // namespace
