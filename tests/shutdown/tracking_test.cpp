// How much is recorded.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using roost::guard;
using roost::guard_tracking;
using roost::shutdown;

TEST(tracking, SHUT_58_ages_may_be_absent) {
    roost::set_guard_tracking(guard_tracking::sites);
    const shutdown s("server");
    const guard g = s.guard();
    roost::set_guard_tracking(guard_tracking::off);
    const guard h = s.guard();
    roost::set_guard_tracking(guard_tracking::coarse);
    EXPECT_EQ(roost::current_guard_tracking(), guard_tracking::coarse);
    const auto r = s.report();
    EXPECT_EQ(r.total(), 2U);
    for (const auto& e : r) {
        EXPECT_FALSE(e.oldest().has_value());
    }
    EXPECT_NE(r.to_string().find("1 guard of 'server' at unknown site"), std::string::npos) << r.to_string();
}

}  // namespace
