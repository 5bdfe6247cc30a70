// interrupt<T>: ranges.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <list>
#include <numeric>
#include <vector>

namespace {

using roost::shutdown;

TEST(interrupted_range, SHUT_16_iteration_ends_with_stop) {
    const shutdown s;
    std::vector<int> values(10);
    std::iota(values.begin(), values.end(), 0);
    std::vector<int> seen;
    for (const int v : s.interrupt(values)) {
        seen.push_back(v);
        if (v == 3) {
            s.shut_down();
        }
    }
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
    for (const int v : s.interrupt(std::list<int>{1, 2})) {
        ADD_FAILURE() << v;
    }
    static_assert(std::ranges::input_range<roost::interrupt<std::vector<int>>>);
}

}  // namespace
