#include <roost/base/error.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/until_stop.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/virtual_time.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>
#include <roost/tree/lease.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

// Tasks below and beside shutdown nodes.

using namespace roost;
using namespace roost::ext;
using roost::testing::manual_executor;

namespace {

task<int> wait_for(event& e) {
    co_await e.wait();
    co_return 5;
}
task<> serve(shutdown server, event& e, std::string& log) {
    const auto got = co_await server.interrupt(wait_for(e)).guarded();
    log += got ? "value" : "stopped";
    EXPECT_EQ(server.guard_count(), 0U) << "the guard goes with the await";
}
task<> hold_on(event& e, std::string& log) {
    co_await e.wait();
    log += "served";
}

task<> waits_here(event& e, unsigned& line) {
    line = __LINE__ + 1;
    co_await e.wait();
}
task<> waits_there(event& e, unsigned& line, unsigned& caller) {
    caller = __LINE__ + 1;
    co_await waits_here(e, line);
}

TEST(shutdown_tasks, OBS_102_a_report_shows_where_each_job_is_suspended) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope root(server.tree_node(), on, scope_options("root").report_failures());
    event go("go");
    unsigned line = 0;
    unsigned caller = 0;
    const auto start = [&](bool deep) {
        root.launch("request", deep ? waits_there(go, line, caller) : waits_here(go, line));
    };
    start(true);
    on.run_all();
    std::string file = site::here().to_string();
    file.resize(file.rfind(':') + 1);
    const std::string at = "at " + file + std::to_string(line) + " <- " + file + std::to_string(caller);
    const std::string alone = server.report().to_string();
    EXPECT_NE(alone.find(", " + at + ", waits on event 'go'"), std::string::npos) << alone;
    start(true);
    on.run_all();
    const std::string two = server.report().to_string();
    EXPECT_NE(two.find(", " + at + ", all wait on event 'go'"), std::string::npos) << two;
    start(false);
    on.run_all();
    const std::string three = server.report().to_string();
    EXPECT_NE(three.find(", 2 wait on event 'go' " + at + ", 1 waits on event 'go' at " + file), std::string::npos) << three;
    go.set();
    on.run_all();
    root.request_close();
    on.run_all();
}

TEST(shutdown_tasks, SHUT_76_interrupt_of_a_task_ends_with_stop) {
    manual_executor on("hand");
    owned_scope root(on, scope_options("root").report_failures());
    shutdown server("server");
    event never;
    std::string log;
    root.launch("serve", serve(server, never, log));
    on.run_all();
    EXPECT_EQ(server.guard_count(), 1U);
    auto done = server.shut_down();
    EXPECT_FALSE(done.is_resolved());
    on.run_all();
    EXPECT_EQ(log, "stopped");
    EXPECT_TRUE(done.is_resolved());
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

task<> hold(shutdown server, event& e, std::string& log) {
    const int got = co_await server.guarded(wait_for(e));
    log += std::to_string(got) + " ";
    co_await server.guarded(sleep_for(std::chrono::hours(1)));
    log += "slept ";
}

TEST(shutdown_tasks, SHUT_14_guarded_tasks_and_sleeps_are_awaited_as_they_are) {
    roost::testing::virtual_time on;
    owned_scope root(on, scope_options("root").report_failures());
    const shutdown server("server");
    event e;
    std::string log;
    root.launch("hold", hold(server, e, log));
    on.run_ready();
    EXPECT_EQ(server.guard_count(), 1U);
    auto done = server.shut_down();
    on.run_ready();
    EXPECT_EQ(log, "") << "stop changes nothing";
    e.set();
    on.run_ready();
    EXPECT_EQ(log, "5 ");
    EXPECT_FALSE(done.is_resolved());
    on.run();
    EXPECT_EQ(log, "5 slept ");
    EXPECT_TRUE(done.is_resolved());
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

task<> watch(roost::interrupt<task<int>> i, std::string& log) {
    const auto got = co_await std::move(i);
    log += got ? "value" : "ended";
}

TEST(shutdown_tasks, SHUT_80_interrupt_of_a_task_ends_when_the_node_is_gone) {
    manual_executor on("hand");
    owned_scope root(on, scope_options("root").report_failures());
    const shutdown server("server");
    event never;
    std::string log;
    auto c = std::make_unique<shutdown>(server.child());
    auto g = std::make_unique<guard>(c->guard());
    root.launch("watch", watch(c->interrupt(wait_for(never)), log));
    on.run_all();
    c.reset();
    on.run_all();
    EXPECT_EQ(log, "") << "the guard keeps the node";
    g.reset();
    on.run_all();
    EXPECT_EQ(log, "ended");
    EXPECT_EQ(server.state(), shutdown_state::running);
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

task<> nap(shutdown server, std::string& log) {
    const auto slept = co_await server.interrupt(sleep_for(std::chrono::hours(1)));
    log += slept ? "slept" : "stopped";
}

TEST(shutdown_tasks, SHUT_76_interrupt_of_a_sleep_ends_with_stop) {
    roost::testing::virtual_time on;
    owned_scope root(on, scope_options("root").report_failures());
    shutdown server("server");
    std::string log;
    root.launch("nap", nap(server, log));
    on.run_ready();
    server.shut_down();
    on.run();
    EXPECT_EQ(log, "stopped");
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

TEST(shutdown_tasks, SHUT_77_a_drain_covers_guards_and_jobs_and_names_both) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope requests(server.tree_node(), on, scope_options("requests").report_failures());
    event go;
    std::string log;
    requests.launch("request", hold_on(go, log));
    on.run_all();
    {
        const guard g = server.guard();
        const auto done = server.shut_down();
        EXPECT_EQ(server.state(), shutdown_state::shutting_down);
        const std::string report = server.report().to_string();
        EXPECT_NE(report.find("tasks_test.cpp"), std::string::npos) << report;
        EXPECT_NE(report.find("request"), std::string::npos) << report;
    }
    EXPECT_EQ(server.state(), shutdown_state::shutting_down) << "the job is left";
    go.set();
    on.run_all();
    EXPECT_EQ(log, "served") << "stop alone cancels nothing";
    EXPECT_EQ(server.state(), shutdown_state::complete) << "an open scope without jobs delays nobody";
    requests.request_close();
    EXPECT_TRUE(requests.is_closed());
}

task<> leave_a_child(scope& s, event& e, std::string& log) {
    s.launch("left", hold_on(e, log));
    co_return;
}
task<> only_waits_for_its_child(event& e, std::string& log) {
    co_await with_scope(leave_a_child, std::ref(e), std::ref(log));
}
TEST(shutdown_tasks, SHUT_5_guards_leases_and_bodies_are_counted_and_nothing_else) {
    manual_executor on("hand");
    shutdown server("server");
    shutdown connection = server.child("connection");
    owned_scope requests(connection.tree_node(), on, scope_options("requests").report_failures());
    const callback unrelated(server.observe(), level::abort, on, [] {});
    event go;
    std::string log;
    EXPECT_EQ(server.guard_count(), 0U) << "neither scopes nor callbacks are work";
    const job parent = requests.launch("request", only_waits_for_its_child(go, log));
    on.run_all();
    EXPECT_EQ(server.guard_count(), 2U) << "two jobs whose bodies run";
    {
        const lease held = requests.lease();
        EXPECT_EQ(server.guard_count(), 2U) << "the scope's children are counted";
        const guard g = connection.guard();
        EXPECT_EQ(server.guard_count(), 3U);
        const external_resource op = external_resource::open(connection.tree_node(), "read", [] {});
        EXPECT_EQ(server.guard_count(), 4U);
    }
    go.set();
    on.run_all();
    EXPECT_EQ(parent.state(), job_state::completed);
    EXPECT_EQ(server.guard_count(), 0U);
    requests.request_close();
    on.run_all();
    EXPECT_TRUE(requests.is_closed());
}

TEST(shutdown_tasks, SHUT_5_counts_however_deep_the_tree_is) {
    std::vector<shutdown> nodes{shutdown("root")};
    std::vector<guard> guards;
    manual_executor on("hand");
    std::vector<callback> unrelated;
    for (int i = 0; i < 40; ++i) {
        nodes.push_back(nodes.back().child("below"));
        guards.push_back(nodes.back().guard());
        unrelated.emplace_back(nodes.back().observe(), level::abort, on, [] {});
    }
    EXPECT_EQ(nodes.front().guard_count(), 40U);
    unrelated.clear();
    guards.clear();
    EXPECT_EQ(nodes.front().guard_count(), 0U);
}

TEST(shutdown_tasks, SHUT_77_cancel_of_the_node_reaches_the_jobs) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope requests(server.tree_node(), on, "requests");
    event never;
    std::string log;
    const job j = requests.launch("request", hold_on(never, log));
    on.run_all();
    server.shut_down();
    EXPECT_EQ(server.state(), shutdown_state::shutting_down);
    server.cancel();
    on.run_all();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(server.state(), shutdown_state::complete);
    requests.close_blocking();
}

TEST(shutdown_tasks, SHUT_77_below_a_closed_node_a_scope_is_refused) {
    manual_executor on("hand");
    owned_scope gone(on, scope_options("gone").report_failures());
    gone.request_close();
    ASSERT_TRUE(gone.is_closed());
    try {
        const owned_scope late(gone.tree_node(), on, scope_options("late").report_failures());
        ADD_FAILURE() << "it was admitted";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), errc::closed);
        const std::string text = e.what();
        EXPECT_EQ(text.find("owned scope 'late' ("), 0U) << text;
        EXPECT_NE(text.find(" was not made: its parent owned scope 'gone' ("), std::string::npos) << text;
    }
}

// A coroutine that knows no executor: it is resumed where it is woken.
class fire {
public:
    class promise_type {
    public:
        fire get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
task<> count_one(int& count) {
    ++count;
    co_return;
}
fire look_when_complete(shutdown server, owned_scope& others, bool& in_no_job, int& count) {
    co_await server.shut_down();
    in_no_job = !current_job();
    others.launch("next", count_one(count), start::immediate);
    EXPECT_EQ(count, 2) << "it was started in place, whatever memory its job has";
}

TEST(shutdown_tasks, TASK_7_a_coroutine_resumed_by_the_end_of_a_drain_runs_in_no_job) {
    manual_executor on("hand");
    shutdown server("server");
    owned_scope others(on, scope_options("others").report_failures());
    owned_scope requests(server.tree_node(), on, scope_options("requests").report_failures());
    bool in_no_job = false;
    int count = 0;
    requests.launch("last", count_one(count));
    look_when_complete(server, others, in_no_job, count);
    EXPECT_FALSE(in_no_job);
    on.run_all();
    EXPECT_TRUE(in_no_job) << "the last job has ended";
    EXPECT_EQ(count, 2);
    requests.request_close();
    others.request_close();
    EXPECT_TRUE(requests.is_closed());
}

TEST(shutdown_tasks, SHUT_46_an_idle_scope_below_does_not_keep_interrupts_waiting) {
    manual_executor on("hand");
    const shutdown server("server");
    bool is_cancelled = false;
    {
        shutdown connection = server.child("connection");
        const token observed(connection.tree_node());
        owned_scope requests(connection.tree_node(), on, scope_options("requests").report_failures());
        const inline_callback when_cancelled(observed, level::cancel, [&]() noexcept { is_cancelled = true; });
        bool is_told = false;
        const inline_callback when_stopped(observed, level::stop, [&]() noexcept { is_told = true; });
        connection = server;
        EXPECT_TRUE(is_told) << "nobody can stop the connection any more";
        EXPECT_FALSE(is_cancelled) << "and nobody has cancelled it";
        requests.request_close();
        EXPECT_TRUE(requests.is_closed());
    }
    EXPECT_FALSE(is_cancelled);
}

task<> wait_in_scope(roost::scope& s, event& outer, event& inner) {
    s.launch("child", [](event& e) -> task<> { co_await e.wait(); }(inner));
    co_await outer.wait();
}

task<> connection(event& outer, event& inner) {
    co_await roost::with_scope(wait_in_scope, std::ref(outer), std::ref(inner));
}

TEST(shutdown_tasks, SHUT_111_scopes_are_no_entries_and_tell_what_their_job_waits_on) {
    manual_executor on("hand");
    const shutdown server("server");
    owned_scope root(server.tree_node(), on, scope_options("jobs").report_failures());
    event outer("outer");
    event inner("inner");
    root.launch("connection", connection(outer, inner));
    on.run_all();
    EXPECT_EQ(server.guard_count(), 2U) << "two jobs; the scope is part of one";
    const auto both = server.report();
    EXPECT_EQ(both.total(), 2U);
    EXPECT_NE(both.to_string().find("waits on event 'outer'"), std::string::npos) << both.to_string();
    EXPECT_NE(both.to_string().find("waits on event 'inner'"), std::string::npos) << both.to_string();
    EXPECT_EQ(both.to_string().find("scope"), std::string::npos) << both.to_string();
    outer.set();
    on.run_all();
    const auto one = server.report();
    ASSERT_EQ(one.total(), 1U) << one.to_string();
    EXPECT_EQ(one.entries()[0].name(), "child") << "its parent only waits for it";
    inner.set();
    on.run_all();
    root.request_close();
    on.run_all();
    EXPECT_TRUE(server.report().is_empty());
    EXPECT_TRUE(root.is_closed());
}

}  // namespace
