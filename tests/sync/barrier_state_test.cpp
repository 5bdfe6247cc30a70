#include <roost/sync/detail/barrier_state.hpp>

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

namespace {

using roost::detail::barrier_state;

static_assert(arrived(barrier_state{2, 2, 7}) == barrier_state{2, 1, 7});
static_assert(arrived(barrier_state{2, 1, 7}) == barrier_state{2, 2, 8}, "the last arrival begins the next phase");
static_assert(dropped(barrier_state{2, 1, 7}) == barrier_state{1, 1, 8});
static_assert(dropped(barrier_state{1, 1, 7}) == barrier_state{0, 0, 8});

TEST(barrier_state, SYNC_100_every_reachable_state_is_sound) {
    std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
    std::vector<barrier_state> todo{{3, 3, 0}};
    while (!todo.empty()) {
        const barrier_state s = todo.back();
        todo.pop_back();
        if (s.phase > 3 || !seen.insert({s.expected, s.remaining, s.phase}).second) {
            continue;
        }
        ASSERT_TRUE(invariant(s));
        if (s.remaining > 0) {
            todo.push_back(arrived(s));
        }
        if (s.remaining > 0 && s.expected > 0) {
            todo.push_back(dropped(s));
        }
    }
    EXPECT_GT(seen.size(), 10U);
}

TEST(barrier_state, SYNC_100_a_phase_without_arrivals_to_wait_for_is_not_sound) {
    EXPECT_FALSE(invariant(barrier_state{1, 0, 0}));
    EXPECT_TRUE(invariant(barrier_state{0, 0, 0}));
}

}  // namespace
