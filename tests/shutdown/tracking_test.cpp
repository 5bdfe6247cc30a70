// How much is recorded.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using roost::guard;
using roost::shutdown;
using roost::observe::guard_tracking;

TEST(tracking, SHUT_58_ages_may_be_absent) {
    roost::observe::set_guard_tracking(guard_tracking::sites);
    const shutdown s("server");
    const guard g = s.guard();
    EXPECT_EQ(roost::observe::set_guard_tracking(guard_tracking::off), guard_tracking::sites);
    const guard h = s.guard();
    EXPECT_EQ(roost::observe::set_guard_tracking(guard_tracking::sites), guard_tracking::off);
    EXPECT_EQ(roost::observe::current_guard_tracking(), guard_tracking::sites);
    const auto r = s.report();
    EXPECT_EQ(r.total(), 2U);
    for (const auto& e : r) {
        EXPECT_FALSE(e.oldest().has_value());
    }
    EXPECT_NE(r.to_string().find("1 guard of 'server' (unknown site)"), std::string::npos) << r.to_string();
}

TEST(tracking, SHUT_78_ages_count_from_when_a_guard_was_noticed) {
    const shutdown s("server");
    const guard g = s.guard();
    ASSERT_FALSE(s.report().begin()->oldest().has_value()) << "nobody had noticed it";
    const auto again = s.report();
    ASSERT_TRUE(again.begin()->oldest().has_value());
    EXPECT_TRUE(again.begin()->is_at_least());
    EXPECT_NE(again.to_string().find(", age at least "), std::string::npos) << again.to_string();
}

TEST(tracking, SHUT_78_the_stop_of_a_root_notices) {
    const shutdown s("server");
    const guard g = s.guard();
    s.shut_down();
    EXPECT_TRUE(s.report().begin()->oldest().has_value());
}

TEST(tracking, SHUT_78_a_busy_thread_notices_its_own) {
    const shutdown s("server");
    const guard g = s.guard();
    for (int i = 0; i < 256 * 16'384; ++i) {  // tests before this one may have left the thread a large table
        const guard passing = s.guard();
    }
    EXPECT_TRUE(s.report().begin()->oldest().has_value());
}

TEST(tracking, SHUT_78_recorded_times_are_no_bounds) {
    roost::observe::set_guard_tracking(guard_tracking::coarse);
    const shutdown s("server");
    const guard g = s.guard();
    roost::observe::set_guard_tracking(guard_tracking::sites);
    const auto r = s.report();
    EXPECT_TRUE(r.begin()->oldest().has_value());
    EXPECT_FALSE(r.begin()->is_at_least());
}

}  // namespace
