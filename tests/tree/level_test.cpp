#include <roost/tree/level.hpp>

#include <gtest/gtest.h>

namespace {

static_assert(roost::level::running < roost::level::stop && roost::level::stop < roost::level::cancel &&
              roost::level::cancel < roost::level::abort);

TEST(level, TREE_1_the_levels_have_names) {
    EXPECT_EQ(to_string(roost::level::running), "running");
    EXPECT_EQ(to_string(roost::level::stop), "stop");
    EXPECT_EQ(to_string(roost::level::cancel), "cancel");
    EXPECT_EQ(to_string(roost::level::abort), "abort");
}

}  // namespace
