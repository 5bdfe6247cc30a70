#include <roost/testing/explore_gtest.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest-spi.h>

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

MODEL(explore_gtest, EXPL_54_a_model_is_a_test) {
    atomic<int> x{0};
    thread other([&] { x.store(1, mo::release); });
    other.join();
    rt::check(x.load(mo::acquire) == 1, "join orders");
}

TEST(explore_gtest, EXPL_54_a_bad_verdict_fails_the_test) {
    EXPECT_NONFATAL_FAILURE(rt::explore_all([] { rt::check(false, "planted"); }), "planted");
}

TEST(explore_gtest, EXPL_54_the_name_of_the_test_is_the_name_of_the_model) {
    EXPECT_EQ(rt::current_test_name(), "explore_gtest.EXPL_54_the_name_of_the_test_is_the_name_of_the_model");
}
