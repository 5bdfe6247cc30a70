// guarded<T>

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../sync/coroutines.hpp"

namespace {

using roost::shutdown;
using roost::shutdown_state;
using sync_testing::hand_executor;
using sync_testing::hosted;

hosted await_guarded(roost::executor&, shutdown s, roost::event& e, bool& done) {
    co_await s.guarded(e.wait());
    done = true;
    co_await e.wait();
}

TEST(guarded, SHUT_14_awaiting_passes_through_and_ignores_stop) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    bool done = false;
    auto a = await_guarded(where, s, e, done);
    EXPECT_EQ(s.guard_count(), 1U);
    s.shut_down();
    where.run();
    EXPECT_FALSE(done);
    EXPECT_EQ(s.state(), shutdown_state::shutting_down);
    e.set();
    where.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(s.state(), shutdown_state::complete);
}

TEST(guarded, SHUT_15_copies_count_and_extraction_releases) {
    const shutdown s;
    auto a = s.guarded(std::string("x"));
    const auto b = a;
    EXPECT_EQ(s.guard_count(), 2U);
    EXPECT_EQ(a, b);
    EXPECT_FALSE(a == s.guarded(std::string("y")));
    EXPECT_EQ(std::move(a).into_inner(), "x");
    EXPECT_EQ(s.guard_count(), 1U);
    static_assert(!std::is_copy_constructible_v<roost::guarded<std::unique_ptr<int>>>);
    static_assert(std::is_copy_constructible_v<roost::guarded<int>>);
}

TEST(guarded, SHUT_14_guarded_iteration_takes_no_notice) {
    const shutdown s;
    auto g = s.guarded(std::vector<int>{1, 2, 3});
    s.shut_down();
    int sum = 0;
    for (const int v : g) {
        sum += v;
    }
    EXPECT_EQ(sum, 6);
}

}  // namespace
