#pragma once

// A planted bug must be found, its replay string must lead to the same verdict again, and the corrected version must
// survive a search that leaves nothing untried.

#include <roost/base/atomic.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <cstdlib>
#include <functional>

namespace planted {

using roost::testing::explore;
using roost::testing::options;
using roost::testing::result;
using roost::testing::verdict;

inline void expect_found(verdict expected, const std::function<void()>& body, options how = {}) {
#if defined(ROOST_SEAM_MODEL)
    const std::string name = roost::testing::current_test_name();
    how.name = name.c_str();
    const result r = roost::testing::explore_in_test(how, body);
    ASSERT_STREQ(to_string(r.verdict), to_string(expected)) << r.report(how.name);
    EXPECT_FALSE(r.trace.empty());
    setenv("ROOST_REPLAY", r.choices.c_str(), 1);
    ::testing::internal::CaptureStderr();
    const result again = explore(how, body);
    const std::string printed = ::testing::internal::GetCapturedStderr();
    unsetenv("ROOST_REPLAY");
    EXPECT_STREQ(to_string(again.verdict), to_string(expected));
    EXPECT_EQ(again.executions, 1U);
    EXPECT_EQ(again.choices, r.choices);
    EXPECT_EQ(again.trace, r.trace);
    EXPECT_NE(printed.find(again.message), std::string::npos);
#else
    (void)expected;
    (void)body;
    (void)how;
    GTEST_SKIP() << "planted bugs are looked for by the explorer only";
#endif
}

inline void expect_none(const std::function<void()>& body, const options& how = {}) {
    const result r = roost::testing::explore_all(body, how);
#if defined(ROOST_SEAM_MODEL)
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(r.bound, roost::testing::unbounded);
#else
    (void)r;
#endif
}

}  // namespace planted
