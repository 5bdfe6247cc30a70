#include <roost/sync/detail/once_state.hpp>

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace {

using roost::detail::once_state;

static_assert(enter(once_state{}) == once_state{once_state::running, false});
static_assert(roost::detail::fail(1) == once_state{once_state::running, false});
static_assert(roost::detail::fail(2) == once_state{once_state::running, true});

TEST(once_state, SYNC_110_every_reachable_state_is_sound) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // word, waiters
    std::vector<std::pair<once_state, std::uint32_t>> todo{{once_state{}, 0}};
    while (!todo.empty()) {
        const auto [s, waiters] = todo.back();
        todo.pop_back();
        if (waiters > 3 || !seen.insert({s.pack(), waiters}).second) {
            continue;
        }
        ASSERT_TRUE(invariant(s));
        ASSERT_EQ(once_state::unpack(s.pack()), s);
        ASSERT_EQ(s.waited, waiters != 0);
        todo.push_back({enter(s), waiters + (s.phase == once_state::running ? 1 : 0)});
        if (s.phase == once_state::running) {
            todo.push_back({roost::detail::succeed(), 0});
            todo.push_back({roost::detail::fail(waiters), waiters == 0 ? 0 : waiters - 1});
        }
    }
    EXPECT_EQ(seen.size(), 6U);  // fresh, done, running with 0..3 waiters
}

TEST(once_state, SYNC_110_there_are_waiters_only_while_it_runs) {
    EXPECT_FALSE(invariant(once_state{once_state::fresh, true}));
    EXPECT_FALSE(invariant(once_state{once_state::done, true}));
    EXPECT_NE(enter(once_state{}), once_state{});
    EXPECT_NE(enter(enter(once_state{})), enter(once_state{}));
}

}  // namespace
