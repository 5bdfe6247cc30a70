#include "general_limit.hpp"

#include <roost/testing/explore.hpp>

#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <type_traits>

// explore() on real threads: a stress test with the same face. The search itself is tested by the models.

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

static_assert(std::is_trivially_destructible_v<rt::options>);

TEST(explore, EXPL_50_runs_the_body_as_often_as_told) {
    int runs = 0;
    const rt::result r = rt::explore({.name = "runs", .native_runs = 10, .native_seconds = 60}, [&] { ++runs; });
    EXPECT_TRUE(r.ok());
    EXPECT_EQ(r.executions, 10U);
    EXPECT_EQ(runs, 10);
    EXPECT_FALSE(r.complete);
    EXPECT_NE(r.summary().find("not exhaustive"), std::string::npos);
}

TEST(explore, EXPL_50_stops_when_time_is_up) {
    const without_general_limit own_limits;
    const rt::result r = rt::explore({.name = "time", .native_runs = 1000000000, .native_seconds = 0}, [] {});
    EXPECT_LT(r.executions, 1000000U);
}

TEST(explore, EXPL_51_a_failed_check_on_any_thread_is_the_verdict) {
    const rt::result r = rt::explore({.name = "check", .native_runs = 5}, [] {
        thread other([] { rt::check(false, "never holds"); });
        other.join();
    });
    EXPECT_EQ(r.verdict, rt::verdict::assertion);
    EXPECT_EQ(r.executions, 1U);
    EXPECT_NE(r.message.find("never holds"), std::string::npos);
    EXPECT_NE(r.message.find("explore_test.cpp"), std::string::npos);
    EXPECT_NE(r.report("check").find("assertion"), std::string::npos);
}

TEST(explore, EXPL_52_choices_are_random_and_in_range) {
    unsigned seen = 0;
    rt::explore({.name = "choose", .native_runs = 500, .native_seconds = 60}, [&] {
        const std::uint32_t c = rt::choose(3);
        rt::check(c < 3);
        seen |= 1U << c;
    });
    EXPECT_EQ(seen, 7U);
}

TEST(explore, EXPL_53_every_verdict_has_a_name) {
    for (unsigned v = 0; v <= static_cast<unsigned>(rt::verdict::exception); ++v) {
        EXPECT_STRNE(rt::to_string(static_cast<rt::verdict>(v)), "?");
    }
}
