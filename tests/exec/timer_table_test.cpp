#include <roost/exec/detail/timer_table.hpp>

#include <gtest/gtest.h>

// One thread; the races are in tests/runtime/timer_shards_model.cpp.

namespace {

using namespace roost;
using namespace roost::ext;
using detail::timer_table;
using armed_as = timer_table::armed_as;

struct alarm : timer {
    explicit alarm(std::chrono::milliseconds at) : timer(+[](timer& t) noexcept { ++static_cast<alarm&>(t).fired; }) {
        set_deadline(time_point(at));
    }
    int fired = 0;
};

// The services hand themselves on to the timer; nothing is asked of this one.
struct silent_service final : timer_service {
    [[nodiscard]] time_point now() noexcept override { return {}; }
    bool arm(timer&) noexcept override { return false; }
    bool disarm(timer&) noexcept override { return false; }
};

struct timer_table_test : testing::Test {
    timer_table_test() { table.lock(); }
    ~timer_table_test() override { table.unlock(); }
    armed_as arm(timer& t) { return table.arm(t, service); }

    silent_service service;
    timer_table table;
};

using std::chrono::milliseconds;

TEST_F(timer_table_test, RUN_21_says_which_timer_has_to_be_looked_at_sooner) {
    alarm second(milliseconds(20));
    alarm first(milliseconds(10));
    alarm third(milliseconds(30));
    EXPECT_FALSE(table.has_next());
    EXPECT_EQ(table.next(), no_deadline);
    EXPECT_EQ(arm(second), armed_as::earliest);
    EXPECT_EQ(arm(first), armed_as::earliest);
    EXPECT_EQ(arm(third), armed_as::in_time);
    EXPECT_TRUE(table.has_next());
    EXPECT_LE(table.next(), first.deadline() + milliseconds(1));
    EXPECT_EQ(table.close(), 3U);
}

TEST_F(timer_table_test, RUN_21_without_a_planned_poll_the_next_is_the_earliest) {
    alarm first(milliseconds(10));
    alarm second(milliseconds(20));
    ASSERT_EQ(arm(first), armed_as::earliest);
    EXPECT_TRUE(table.disarm(first));
    EXPECT_TRUE(table.is_empty());
    table.forget_next();
    EXPECT_FALSE(table.has_next());
    EXPECT_EQ(arm(second), armed_as::earliest);
    EXPECT_TRUE(table.disarm(second));
}

TEST_F(timer_table_test, RUN_20_a_timer_fires_once_or_is_disarmed) {
    alarm due(milliseconds(10));
    alarm taken_back(milliseconds(10));
    alarm later(milliseconds(500));
    arm(due);
    arm(taken_back);
    arm(later);
    EXPECT_TRUE(table.disarm(taken_back));
    EXPECT_TRUE(table.disarm(taken_back)) << "it still never fires";
    table.fire_due(time_point(milliseconds(100)), 10);
    EXPECT_EQ(due.fired, 1);
    EXPECT_EQ(taken_back.fired, 0);
    EXPECT_EQ(later.fired, 0);
    EXPECT_FALSE(table.disarm(due)) << "it has fired";
    EXPECT_TRUE(table.disarm(later));
    EXPECT_TRUE(table.is_empty());
}

TEST_F(timer_table_test, RUN_20_a_batch_leaves_the_rest_for_the_next_look) {
    alarm a(milliseconds(1));
    alarm b(milliseconds(2));
    alarm c(milliseconds(3));
    arm(a);
    arm(b);
    arm(c);
    const time_point now(milliseconds(10));
    table.fire_due(now, 2);
    EXPECT_EQ(a.fired + b.fired + c.fired, 2);
    EXPECT_LE(table.next(), now) << "there is more to do at once";
    table.fire_due(now, 2);
    EXPECT_EQ(a.fired + b.fired + c.fired, 3);
    EXPECT_FALSE(table.has_next());
}

TEST_F(timer_table_test, RUN_20_a_closed_table_refuses_and_forgets) {
    alarm left(milliseconds(10));
    alarm refused(milliseconds(10));
    arm(left);
    EXPECT_FALSE(table.is_closed());
    EXPECT_EQ(table.close(), 1U);
    EXPECT_TRUE(table.is_closed());
    EXPECT_EQ(arm(refused), armed_as::refused);
    table.fire_due(time_point(milliseconds(100)), 10);
    EXPECT_EQ(left.fired + refused.fired, 0);
    EXPECT_TRUE(table.disarm(left));
    EXPECT_TRUE(table.disarm(refused));
    EXPECT_EQ(table.close(), 0U);
}

}  // namespace
