#include <roost/exec/blocking.hpp>
#include <roost/exec/executor.hpp>

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::ext;

static_assert(std::is_base_of_v<work, blocking_work>);
static_assert(!std::is_copy_constructible_v<blocking_work>);
static_assert(!std::is_destructible_v<blocking_service>, "nobody owns one through its base");

TEST(blocking_service, RUN_44_an_executor_without_a_lane_says_so) {
    inline_executor e;
    EXPECT_EQ(e.blocking(), nullptr);
}

}  // namespace
