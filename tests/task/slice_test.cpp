#include <roost/task/detail/frame/slice.hpp>

#include <gtest/gtest.h>

using roost::duration;
using roost::time_point;
using roost::detail::slice;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

// Looks at every step it is due at, with steps of this length; returns when it is over.
constexpr duration runs_for(duration step, bool limited) {
    slice s;
    s.begin();
    time_point at = start;
    unsigned left = limited ? 1 : slice::first_steps;
    for (;;) {
        at += step;
        if (--left == 0) {
            if (s.look(at, limited)) {
                return at - start;
            }
            left = s.steps();
        }
    }
}

static_assert(slice::first_steps <= slice::most_steps && slice::most_steps <= 64);

TEST(slice, TASK_120_a_body_of_quick_steps_is_over_within_a_millisecond_and_a_little) {
    for (const bool limited : {false, true}) {
        for (const duration step : {duration(1ns), duration(50ns), duration(1us), duration(20us)}) {
            const duration ran = runs_for(step, limited);
            EXPECT_GE(ran, slice::longest);
            EXPECT_LE(ran, slice::longest + 500us) << step.count();
        }
    }
}

TEST(slice, TASK_120_slow_steps_are_looked_at_one_by_one) {
    slice s;
    s.begin();
    EXPECT_FALSE(s.look(start, true));
    EXPECT_EQ(s.steps(), 1) << "under a deadline";
    EXPECT_FALSE(s.look(start + 200us, true));
    EXPECT_EQ(s.steps(), 1);
    EXPECT_TRUE(s.look(start + 1ms, true));
}

TEST(slice, TASK_120_quick_steps_are_looked_at_ever_more_rarely_up_to_every_32nd) {
    slice s;
    s.begin();
    for (const int steps : {8, 16, 32, 32}) {
        EXPECT_FALSE(s.look(start, false));
        EXPECT_EQ(s.steps(), steps);
    }
    EXPECT_FALSE(s.look(start + 900us, false));
    EXPECT_EQ(s.steps(), 1) << "they have become slow";
}

TEST(slice, TASK_120_every_run_of_a_body_begins_a_new_one) {
    slice s;
    s.begin();
    EXPECT_FALSE(s.look(start, false));
    s.begin();
    EXPECT_FALSE(s.look(start + 1h, false));
    EXPECT_EQ(s.steps(), 8);
}

}  // namespace
