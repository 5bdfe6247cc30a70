// Places of a limited scope on executors that run the newest work first.
#include <roost/runtime/loop.hpp>
#include <roost/runtime/run.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace roost;

class record {
public:
    int created = 0;
    int running = 0;
    int most = 0;
    std::vector<int> order;
};

task<> begin_and_wait(record& r, int i, event& e) {
    r.order.push_back(i);
    r.most = std::max(r.most, ++r.running);
    co_await e.wait();
    --r.running;
}
task<> produce(scope& s, record& r, event& e) {
    for (int i = 0; i < 100; ++i) {
        co_await s.room();
        s.launch("worker", begin_and_wait(r, i, e));
        ++r.created;
    }
}
task<> run_producer(record& r, event& e) {
    co_await with_scope(scope_options("limited scope").at_most(4), produce, std::ref(r), std::ref(e));
}

TEST(launch_limit, JOB_65_room_holds_a_producer_back_on_a_loop) {
    loop l;
    owned_scope root(l, scope_options("root").report_failures());
    record r;
    event e;
    root.launch("producer", run_producer(r, e));
    while (l.poll() != 0) {}
    EXPECT_EQ(r.created, 4) << "there are four slots, and none is free";
    EXPECT_EQ(r.running, 4);
    e.set();
    while (l.poll() != 0) {}
    EXPECT_EQ(r.created, 100);
    EXPECT_EQ(r.most, 4);
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

task<> begin(record& r, int i) {
    r.order.push_back(i);
    r.most = std::max(r.most, ++r.running);
    co_await yield();
    --r.running;
}
task<> start_ten(scope& s, record& r) {
    for (int i = 0; i < 10; ++i) {
        s.launch("worker", begin(r, i));
    }
    EXPECT_TRUE(r.order.empty()) << "never inside the call that starts it";
    co_return;
}
task<> run_ten(record& r, std::uint32_t limit) {
    co_await with_scope(scope_options("limited scope").at_most(limit), start_ten, std::ref(r));
}

TEST(launch_limit, JOB_65_places_go_out_in_order_of_launch_on_a_loop) {
    loop l;
    owned_scope root(l, scope_options("root").report_failures());
    record one;
    root.launch("one place", run_ten(one, 1));
    while (l.poll() != 0) {}
    EXPECT_EQ(one.order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(one.most, 1);
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

TEST(launch_limit, JOB_65_places_go_out_in_order_of_launch_on_a_runtime) {
    runtime rt(runtime_options().workers(1));
    record one;
    run(rt, run_ten(one, 1));
    EXPECT_EQ(one.order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(one.most, 1);
}

task<> start_and_cancel(scope& s, record& r, event& e) {
    std::vector<job> jobs;
    for (int i = 0; i < 6; ++i) {
        jobs.push_back(s.launch("worker", begin_and_wait(r, i, e)));
    }
    jobs[0].cancel();  // with a place, before it has begun
    jobs[3].cancel();  // queued
    co_await jobs[0].join();
    co_await jobs[3].join();
    co_await jobs[2].join();
}
task<> run_cancelled(record& r, event& e) {
    co_await with_scope(scope_options("limited scope").at_most(2), start_and_cancel, std::ref(r), std::ref(e));
}

TEST(launch_limit, JOB_65_the_place_of_a_cancelled_child_goes_to_the_next_in_line_on_a_loop) {
    loop l;
    owned_scope root(l, scope_options("root").report_failures());
    record r;
    event e;
    root.launch("cancels", run_cancelled(r, e));
    while (l.poll() != 0) {}
    std::sort(r.order.begin(), r.order.end());
    EXPECT_EQ(r.order, (std::vector<int>{1, 2}));
    e.set();
    while (l.poll() != 0) {}
    std::sort(r.order.begin(), r.order.end());
    EXPECT_EQ(r.order, (std::vector<int>{1, 2, 4, 5}));
    EXPECT_EQ(r.most, 2);
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

}  // namespace
