#include <roost/base/assert.hpp>

#include <gtest/gtest.h>

namespace {

TEST(assert_death, BASE_2_panic_names_object_name_site_and_rule) {
    EXPECT_DEATH(roost::detail::panic("mutex", "accounts", roost::site::here(), "unlocked but not locked"),
                 "roost: mutex 'accounts' \\(made at .*assert_test.cpp:[0-9]+\\): unlocked but not locked");
}

TEST(assert_death, BASE_2_panic_without_object_names_rule_and_place) {
    EXPECT_DEATH(roost::detail::panic("counter overflow"), "roost: counter overflow \\[.*assert_test.cpp:[0-9]+\\]");
}

TEST(assert_death, BASE_2_nameless_object_is_still_one_sentence) {
    EXPECT_DEATH(roost::detail::panic("event", "", roost::site(), "destroyed while waited on"),
                 "roost: event: destroyed while waited on");
}

TEST(assert_death, BASE_2_a_handler_sees_the_sentence_first) {
    const auto run = [] {
        roost::observe::set_panic_handler([](const char* sentence) {
            std::fprintf(stderr, "handler saw: %s\n", sentence);
            std::_Exit(7);
        });
        roost::detail::panic("broken rule");
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(7), "handler saw: roost: broken rule");
}

TEST(assert_death, BASE_3_checked_only_in_checked_builds) {
    int evaluated = 0;
    ROOST_ASSERT(++evaluated > 0, "never broken");
    EXPECT_EQ(evaluated, ROOST_CHECKED);
#if ROOST_CHECKED
    EXPECT_DEATH(ROOST_ASSERT(evaluated == 99, "I1: evaluated is 99"), "I1: evaluated is 99");
#endif
}

}  // namespace
