#pragma once

// Litmus tests: a tiny program, its registers printed as digits, and the exact set of outcomes. On real threads the
// outcomes seen must lie inside the set.

#include <roost/base/atomic.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <array>
#include <functional>
#include <set>
#include <string>

namespace litmus {

using outcomes = std::set<std::string>;

template <class... Registers>
std::string show(Registers... registers) {
    std::string text;
    ((text += std::to_string(registers)), ...);
    return text;
}

// Every string of `digits` binary digits, less the forbidden ones.
inline outcomes all_but(unsigned digits, const outcomes& forbidden = {}) {
    outcomes all;
    for (unsigned bits = 0; bits < (1U << digits); ++bits) {
        std::string text;
        for (unsigned i = digits; i-- > 0;) {
            text += ((bits >> i) & 1U) != 0 ? '1' : '0';
        }
        if (!forbidden.contains(text)) {
            all.insert(text);
        }
    }
    return all;
}

template <class... Bodies>
void run_together(Bodies... bodies) {
    std::array<roost::seam::thread, sizeof...(Bodies)> threads{roost::seam::thread(bodies)...};
    for (roost::seam::thread& t : threads) {
        t.join();
    }
}

inline void expect(const outcomes& expected, const std::function<std::string()>& program,
                   roost::testing::memory memory = roost::testing::memory::weak) {
    outcomes seen;
    roost::testing::options how;
    how.memory = memory;
    how.native_runs = 300;
    const auto r = roost::testing::explore_all([&] { seen.insert(program()); }, how);
#if defined(ROOST_SEAM_MODEL)
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(seen, expected);
#else
    for (const std::string& one : seen) {
        EXPECT_TRUE(expected.contains(one)) << one;
    }
#endif
}

}  // namespace litmus
