#include <roost/sync/event.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "further.hpp"
#include "rig.hpp"

#include <vector>

namespace {

using namespace roost;
using rig::stage;

class record {
public:
    int running = 0;
    int most = 0;
    std::vector<int> order;
    std::vector<job> jobs;
};

task<> work_on(record& r, int i, event& e) {
    r.order.push_back(i);
    r.most = std::max(r.most, ++r.running);
    co_await e.wait();
    --r.running;
}
task<int> ten(scope& s, record& r, event& e) {
    for (int i = 0; i < 10; ++i) {
        r.jobs.push_back(s.launch("worker", work_on(r, i, e)));
    }
    co_return 3;
}

TEST(launch_limit, JOB_65_only_so_many_run_in_order_of_arrival) {
    stage s;
    record r;
    event e;
    int got = 0;
    const auto run = [](record& x, event& y, int& z) -> task<> {
        z = co_await with_scope(scope_options("limited scope").at_most(3), ten, std::ref(x), std::ref(y));
    };
    s.play(run(r, e, got));
    EXPECT_EQ(r.running, 3);
    EXPECT_EQ(r.order, (std::vector<int>{0, 1, 2}));
    r.jobs[4].cancel();
    s.run();
    e.set();
    s.run();
    EXPECT_EQ(got, 3);
    EXPECT_EQ(r.most, 3);
    EXPECT_EQ(r.order, (std::vector<int>{0, 1, 2, 3, 5, 6, 7, 8, 9})) << "the cancelled one never began";
}

task<> takes(bool& ran, rig::tracked) {
    ran = true;
    co_return;
}
task<> launch_in_cancelled(scope& s, bool& ran, int& alive) {
    s.cancel();
    s.launch("takes", takes(ran, rig::tracked(alive)), start::always);
    co_return;
}
TEST(launch_limit, JOB_12_in_a_cancelled_scope_always_does_not_start_a_child_that_needs_a_slot) {
    stage s;
    bool ran = false;
    int alive = 0;
    const auto run = [](bool& x, int& y) -> task<> {
        co_await with_scope(scope_options("limited scope").at_most(3), launch_in_cancelled, std::ref(x), std::ref(y));
    };
    s.play(run(ran, alive));
    EXPECT_FALSE(ran);
    EXPECT_EQ(alive, 0);
}

task<> with_room(scope& s, record& r, event& e, int& started) {
    for (int i = 0; i < 3; ++i) {
        co_await s.room();
        s.launch("worker", work_on(r, i, e));
        ++started;
        co_await yield();
    }
    EXPECT_EQ(s.free_slots(), 2U);
}

TEST(launch_limit, JOB_65_room_waits_for_a_free_place) {
    stage s;
    record r;
    event e;
    int started = 0;
    const auto run = [](record& x, event& y, int& z) -> task<> {
        co_await with_scope(scope_options("limited scope").at_most(2), with_room, std::ref(x), std::ref(y), std::ref(z));
    };
    s.play(run(r, e, started));
    EXPECT_EQ(started, 2);
    e.set();
    s.run();
    EXPECT_EQ(started, 3);
    EXPECT_EQ(r.most, 2);
}

using launch_limit_death = ::testing::Test;
TEST_F(launch_limit_death, JOB_65_a_limit_of_zero_is_a_named_bug) {
    const auto none = [](scope&) -> task<> { co_return; };
    EXPECT_DEATH(static_cast<void>(with_scope(scope_options("limited scope").at_most(0), none)),
                 "at_most.0. would never run a child");
}

task<> count_one(int& count) {
    ++count;
    co_return;
}
task<> launch_later(scope& s, event& e, int& count) {
    co_await e.wait();
    s.launch("late", count_one(count));
    co_await s.async("late", count_one(count));
}
task<> return_at_once(scope& s, event& e, int& count) {
    s.launch("child", launch_later(s, e, count));
    co_return;
}

TEST(launch_limit, JOB_80_children_may_use_it_when_the_body_has_returned) {
    stage s;
    event e;
    event scribbled;
    int count = 0;
    const auto run = [](event& x, int& y) -> task<> {
        co_await with_scope(scope_options("limited scope").at_most(2), return_at_once, std::ref(x), std::ref(y));
    };
    const job j = s.play(run(e, count));
    further::scribble_over(s, scribbled);
    e.set();
    s.run();
    EXPECT_EQ(count, 2);
    EXPECT_EQ(j.state(), job_state::completed);
    scribbled.set();
    s.run();
}

}  // namespace
