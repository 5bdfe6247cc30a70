// Selects themselves are tested in tests/flow/select_test.cpp.
#include <roost/sync/detail/choice.hpp>

#include <gtest/gtest.h>

namespace {

using roost::detail::choice;

TEST(choice, JOB_55_is_won_once) {
    choice c;
    int a = 0;
    int b = 0;
    EXPECT_FALSE(c.is_won());
    EXPECT_EQ(c.winner(), nullptr);
    EXPECT_TRUE(c.try_win(&a));
    EXPECT_FALSE(c.try_win(&b));
    EXPECT_TRUE(c.is_won());
    EXPECT_EQ(c.winner(), &a);
}

TEST(choice, JOB_56_two_are_won_together_or_not_at_all) {
    int a = 0;
    int b = 0;
    choice mine;
    choice other;
    EXPECT_EQ(choice::try_win_both(mine, &a, other, &b), choice::pair::both_won);
    EXPECT_EQ(mine.winner(), &a);
    EXPECT_EQ(other.winner(), &b);
    choice third;
    EXPECT_EQ(choice::try_win_both(third, &a, other, &b), choice::pair::other_is_lost);
    EXPECT_FALSE(third.is_won());
    EXPECT_EQ(choice::try_win_both(other, &a, third, &b), choice::pair::mine_is_lost);
    EXPECT_TRUE(third.try_win(&a));
}

}  // namespace
