// Roost's names for tests beside those of GoogleTest.

#include <roost/base/site.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/names.hpp>
#include <roost/testing/suspended.hpp>

#include <gtest/gtest.h>

#include <type_traits>

using namespace roost;  // where it collided with testing:: of GoogleTest

namespace {

class with_fixture : public testing::TestWithParam<int> {};

TEST_P(with_fixture, BASE_62_names_of_googletest_mean_googletest) {
    EXPECT_GT(GetParam(), 0);
    const testing::Message text = testing::Message() << site().to_string();
    EXPECT_EQ(text.GetString(), "unknown site");
}
INSTANTIATE_TEST_SUITE_P(all, with_fixture, testing::Values(1, 2));

TEST(names, BASE_62_names_of_roost_are_found_in_each_spelling) {
    EXPECT_TRUE((std::is_same_v<roost::testing::manual_executor, testing::manual_executor>));
    EXPECT_TRUE((std::is_same_v<roost::testing::manual_executor, ::roost::testkit::manual_executor>));
}

}  // namespace
