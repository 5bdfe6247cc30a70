#include <roost/runtime/detail/pace.hpp>

#include <gtest/gtest.h>

#include <algorithm>

using roost::duration;
using roost::time_point;
using roost::detail::pace;
using namespace std::chrono_literals;

namespace {

static_assert(2 * pace::most <= 64 && 2 * pace::period <= 1ms, "work from outside has every second look");

// The longest times between two looks, in bodies and in time, once the pace has seen a look's worth of such bodies.
struct gaps {
    unsigned bodies = 0;
    duration time{0};
};
gaps gaps_of(pace p, time_point at, duration body, int looks) {
    gaps longest;
    p.looked(at);
    for (int i = 0; i < looks; ++i) {
        unsigned bodies = 0;
        const time_point from = at;
        do {
            at += body;
            ++bodies;
        } while (!p.is_due());
        p.looked(at);
        if (i > 0) {
            longest.bodies = std::max(longest.bodies, bodies);
            longest.time = std::max(longest.time, at - from);
        }
    }
    return longest;
}

TEST(pace, RUN_131_looks_every_31_bodies_and_half_millisecond_whichever_comes_first) {
    for (const duration body : {duration(10ns), duration(1us), duration(30us), duration(200us), duration(499us)}) {
        const gaps g = gaps_of(pace(), time_point(1h), body, 100);
        EXPECT_LE(g.bodies, 31U);
        EXPECT_LE(g.time, pace::period) << body.count();
    }
    EXPECT_EQ(gaps_of(pace(), time_point(1h), 10ns, 100).bodies, 31U);
    EXPECT_EQ(gaps_of(pace(), time_point(1h), 5ms, 100).bodies, 1U) << "a body cannot be interrupted";
}

TEST(pace, RUN_131_bodies_that_become_slow_are_seen_after_one_look) {
    pace p;
    time_point at(1h);
    p.looked(at);
    for (int i = 0; i < 1000; ++i) {
        if (p.is_due()) {
            p.looked(at);
        }
    }
    const gaps g = gaps_of(p, at, 1ms, 20);
    EXPECT_EQ(g.bodies, 1U);
}

TEST(pace, RUN_131_a_sleep_is_no_running) {
    pace p;
    p.looked(time_point(1h));
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(p.is_due());
    }
    EXPECT_TRUE(p.is_last());
    p.restart();
    p.looked(time_point(2h));
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(p.is_due());
    }
    EXPECT_TRUE(p.is_due());
}

}  // namespace
