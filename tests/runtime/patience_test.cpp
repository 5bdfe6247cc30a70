#include <roost/runtime/detail/patience.hpp>

#include <gtest/gtest.h>

using roost::detail::patience;
using namespace std::chrono_literals;

namespace {

TEST(patience, RUN_134_searches_get_shorter_while_sleeps_are_long) {
    patience p(20);
    EXPECT_EQ(p.rounds(), 20U);
    for (const unsigned expected : {10U, 5U, 3U, 3U}) {
        p.slept(1ms);
        EXPECT_EQ(p.rounds(), expected);
    }
}

patience impatient() {
    patience p(20);
    for (int i = 0; i < 3; ++i) {
        p.slept(1ms);
    }
    return p;
}

TEST(patience, RUN_134_searches_get_longer_after_three_short_sleeps_in_a_row) {
    patience p = impatient();
    for (const unsigned expected : {3U, 3U, 6U, 12U}) {
        p.slept(5us);
        EXPECT_EQ(p.rounds(), expected);
    }
    p.slept(5us);
    EXPECT_EQ(p.rounds(), 20U) << "a whole search would have outlasted that sleep";
}

TEST(patience, RUN_134_short_sleeps_between_long_ones_prove_nothing) {
    patience p = impatient();
    for (int i = 0; i < 10; ++i) {
        p.slept(5us);
        p.slept(5us);
        p.slept(1ms);
        EXPECT_EQ(p.rounds(), patience::least);
    }
}

// What comes after a whole search is met by no search.
TEST(patience, RUN_134_a_sleep_after_a_whole_search_makes_the_next_one_shorter) {
    patience p(20);
    p.slept(5us);
    EXPECT_EQ(p.rounds(), 10U);
}

TEST(patience, RUN_134_a_search_that_is_short_anyway_needs_no_clock) {
    EXPECT_FALSE(patience(1).adapts());
    EXPECT_TRUE(patience(20).adapts());
}

}  // namespace
