#include <roost/task/running_limit.hpp>

#include <roost/base/error.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include "rig.hpp"

#include <optional>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using rig::stage;

// Waits, and lets the test move its limit.
task<int> waits(event& e, running_limit& mine) {
    mine = co_await this_limit();
    co_await e.wait();
    co_return 1;
}
task<> limited(event& e, running_limit& mine, std::optional<bool>& in_time) {
    const auto got = co_await move_on_after(10s, waits(e, mine));
    in_time = got.has_value();
}

// One body under a limit of ten seconds.
class limit_test : public ::testing::Test {
protected:
    limit_test() { one_ = s_.play(limited(go_, limit_, in_time_)); }
    ~limit_test() override {
        go_.set();
        s_.run();
        EXPECT_TRUE(one_.is_finished());
        EXPECT_FALSE(limit_.extend_by(1s)) << "the body is out";
        EXPECT_EQ(limit_.remaining(), duration::zero());
    }
    stage s_;
    event go_;
    running_limit limit_;
    std::optional<bool> in_time_;
    job one_;
};
using running_limit_moves = limit_test;

TEST_F(running_limit_moves, JOB_125_extended) {
    const time_point first = limit_.deadline();
    EXPECT_EQ(limit_.remaining(), 10s);
    EXPECT_TRUE(limit_.extend_by(5s));
    EXPECT_EQ(limit_.deadline(), first + 5s);
    EXPECT_EQ(s_.executor.clock().armed(), 1U) << "one timer is moved";
    s_.advance(14s);
    EXPECT_FALSE(in_time_);
    EXPECT_EQ(limit_.remaining(), 1s);
    s_.advance(1s);
    EXPECT_EQ(in_time_, false);
    EXPECT_TRUE(limit_.has_passed());
}

TEST_F(running_limit_moves, JOB_125_from_now_on) {
    for (int i = 0; i < 100; ++i) {
        s_.advance(9s);
        EXPECT_TRUE(limit_.set_remaining(10s));
    }
    EXPECT_EQ(s_.executor.clock().armed(), 1U);
    EXPECT_FALSE(in_time_);
    go_.set();
    s_.run();
    EXPECT_EQ(in_time_, true);
    EXPECT_FALSE(limit_.has_passed());
    EXPECT_FALSE(limit_.move_to(no_deadline));
}

TEST_F(running_limit_moves, JOB_125_earlier) {
    EXPECT_TRUE(limit_.extend_by(-9s));
    s_.advance(1s);
    EXPECT_EQ(in_time_, false);
}

TEST_F(running_limit_moves, JOB_125_to_never_and_back) {
    EXPECT_TRUE(limit_.move_to(no_deadline));
    EXPECT_EQ(limit_.remaining(), duration::max());
    EXPECT_TRUE(limit_.extend_by(1s));
    EXPECT_EQ(limit_.deadline(), no_deadline);
    s_.advance(1h);
    EXPECT_FALSE(in_time_);
    EXPECT_TRUE(limit_.set_remaining(2s));
    s_.advance(2s);
    EXPECT_EQ(in_time_, false);
}

TEST_F(running_limit_moves, JOB_126_moved_into_the_past_it_has_passed_when_the_call_returns) {
    EXPECT_TRUE(limit_.set_remaining(-1ns));
    EXPECT_TRUE(limit_.has_passed());
    EXPECT_FALSE(limit_.extend_by(1h)) << "a limit passes once";
    s_.run();
    EXPECT_EQ(in_time_, false);
}

// The clock decides, whether or not the timer has fired by now.
TEST_F(running_limit_moves, JOB_126_one_that_has_passed_by_the_clock_is_not_moved) {
    s_.executor.clock().skip(10s);
    EXPECT_FALSE(limit_.has_passed()) << "no thread has looked at the clock";
    EXPECT_FALSE(limit_.extend_by(1h));
    EXPECT_TRUE(limit_.has_passed());
    s_.run();
    EXPECT_EQ(in_time_, false);
}

TEST_F(running_limit_moves, JOB_126_closed_timers_end_the_body) {
    s_.executor.clock().closed = true;
    EXPECT_TRUE(limit_.extend_by(1s));
    s_.run();
    EXPECT_EQ(in_time_, false);
    s_.executor.clock().closed = false;
}

TEST(running_limit, JOB_124_of_nothing) {
    stage s;
    running_limit none;
    event set;
    set.set();
    static_cast<void>(s.play(waits(set, none)));
    EXPECT_FALSE(none);
    EXPECT_EQ(none, running_limit());
    EXPECT_EQ(none.deadline(), no_deadline);
    EXPECT_EQ(none.remaining(), duration::max());
    EXPECT_FALSE(none.has_passed() || none.extend_by(1s) || none.move_to(time_point()) || none.set_remaining(1s));
}

// --- where it is found -------------------------------------------------------------------------------------------------

task<> outer_in_child(running_limit& found) { found = co_await this_limit(); }
task<> with_child(scope& s, running_limit& found) {
    s.launch("child", outer_in_child(found));
    co_return;
}
task<> nested(std::vector<running_limit>& all) {
    running_limit found = co_await this_limit();
    all.push_back(found);
    co_await fail_after(1s, outer_in_child(found));
    all.push_back(found);
    co_await with_scope(with_child, std::ref(found));
    all.push_back(found);
    co_await shield(1s, outer_in_child(found));
    all.push_back(found);
}
task<> nest(std::vector<running_limit>& all) { co_await fail_after(10s, nested(all)); }

TEST(running_limit, JOB_124_the_innermost_one_up_to_a_shield) {
    stage s;
    std::vector<running_limit> all;
    static_cast<void>(s.play(nest(all)));
    ASSERT_EQ(all.size(), 4U);
    EXPECT_TRUE(all[0]);
    EXPECT_NE(all[0], all[1]);
    EXPECT_EQ(all[1].deadline(), all[0].deadline() - 9s);
    EXPECT_EQ(all[2], all[0]) << "of the job above";
    EXPECT_FALSE(all[3]) << "not through a shield";
}

void play(roost::testing::virtual_time& clock, task<> t) {
    owned_scope root(clock, scope_options("root").report_failures());
    root.launch("test", std::move(t));
    root.request_close();
    EXPECT_TRUE(clock.run_until([&] { return root.is_closed(); }));
}

// --- with others -------------------------------------------------------------------------------------------------------

task<int> inner_is_moved(time_point& least) {
    const running_limit mine = co_await this_limit();
    EXPECT_TRUE(mine.extend_by(1h));
    const token here = co_await this_token();
    least = here.deadline();
    co_await sleep_for(2h);
    co_return 1;
}
task<> outer_counts(std::vector<int>& got, time_point& least, duration& took) {
    const time_point began = co_await this_time();
    auto inner = fail_after(1s, inner_is_moved(least));
    const auto value = co_await move_on_after(20s, std::move(inner));
    got.push_back(value ? *value : 0);
    const time_point ended = co_await this_time();
    took = ended - began;
}

TEST(running_limit, JOB_125_the_least_of_all_counts) {
    roost::testing::virtual_time clock;
    std::vector<int> got;
    time_point least;
    duration took{};
    const time_point began = clock.now();
    play(clock, outer_counts(got, least, took));
    EXPECT_EQ(got, std::vector<int>{0});
    EXPECT_EQ(least, began + 20s);
    EXPECT_EQ(took, 20s);
}

// A child that makes progress keeps its parent's call alive.
task<> beats(running_limit mine, int times) {
    for (int i = 0; i < times; ++i) {
        co_await sleep_for(900ms);
        EXPECT_TRUE(mine.set_remaining(1s));
    }
    co_await sleep_for(1h);
}
task<> parent(scope& s) {
    const running_limit mine = co_await this_limit();
    s.launch("beats", beats(mine, 50));
}
task<> in_scope() { co_await with_scope(parent); }
task<> watched(duration& took, bool& late) {
    const time_point began = co_await this_time();
    try {
        co_await fail_after(1s, in_scope());
    } catch (const timed_out&) {
        late = true;
    }
    const time_point ended = co_await this_time();
    took = ended - began;
}

TEST(running_limit, JOB_125_moved_by_a_child) {
    roost::testing::virtual_time clock;
    duration took{};
    bool late = false;
    play(clock, watched(took, late));
    EXPECT_TRUE(late);
    EXPECT_EQ(took, 50 * 900ms + 1s);
}

}  // namespace
