#include <roost/observe/built_in.hpp>

#include <roost/observe/metrics.hpp>
#include <roost/runtime/run.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;

// The number behind the line that begins so; -1 if there is none.
double value_of(const std::string& text, const std::string& line) {
    const std::size_t at = ("\n" + text).find("\n" + line + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + line.size() + 1));
}
double now_of(const std::string& line) { return value_of(metrics::to_prometheus(), line); }
double or_zero(double value) { return value < 0 ? 0 : value; }

class enabled {
public:
    enabled() : before_(metrics::enable()) {}
    enabled(const enabled&) = delete;
    enabled& operator=(const enabled&) = delete;
    ~enabled() { metrics::set_enabled(before_); }

private:
    bool before_;
};

task<> nothing() { co_return; }
task<> fails() {
    co_await yield();
    throw std::runtime_error("no");
}
task<> sleeps() { co_await sleep_for(1h); }

task<> many(scope& s) {
    for (int i = 0; i < 1000; ++i) {
        s.launch("bi_nothing", nothing());
    }
    co_return;
}
task<> many_names(scope& s) {
    for (int i = 0; i < 300; ++i) {
        s.launch(std::string("bi_name_") + std::to_string(i), nothing());
    }
    co_return;
}
task<> all_ends(scope& s) {
    s.launch("bi_fails", fails());
    const job j = s.launch("bi_sleeps", sleeps());
    co_await sleep_for(1ms);
    j.cancel();
}
task<> run_many() { co_await with_scope(many); }
task<> run_many_names() { co_await with_scope(many_names); }
task<> run_all_ends() {
    try {
        co_await with_scope(scope_options("s").keep_going(), all_ends);
    } catch (const std::runtime_error&) {
        co_return;
    }
}

TEST(built_in, OBS_158_jobs_are_counted_by_name_and_outcome) {
    const enabled on;
    runtime rt(runtime_options().workers(2).name("counted"));
    const auto total = [](const std::string& outcome, const std::string& name) {
        return or_zero(now_of("roost_jobs_total{outcome=\"" + outcome + "\",name=\"" + name + "\"}"));
    };
    const double before = total("completed", "bi_nothing");
    const double failed = total("failed", "bi_fails");
    const double cancelled = total("cancelled", "bi_sleeps");
    block_on(rt, run_many());
    block_on(rt, run_all_ends());
    EXPECT_EQ(total("completed", "bi_nothing"), before + 1000);
    EXPECT_EQ(total("failed", "bi_fails"), failed + 1);
    EXPECT_EQ(total("cancelled", "bi_sleeps"), cancelled + 1);
    EXPECT_EQ(or_zero(now_of("roost_jobs{state=\"waiting\"}")) + or_zero(now_of("roost_jobs{state=\"running\"}")), 0);
}

TEST(built_in, OBS_158_jobs_of_many_names_share_other) {
    const enabled on;
    runtime rt(runtime_options().workers(2));
    block_on(rt, run_many_names());
    const std::string text = metrics::to_prometheus();
    EXPECT_GT(value_of(text, "roost_jobs_total{outcome=\"completed\",name=\"other\"}"), 90);
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = text.find("\nroost_jobs_total{", at)) != std::string::npos; ++at) {
        ++lines;
    }
    EXPECT_LE(lines, 201U);
}

TEST(built_in, OBS_159_nothing_is_measured_while_it_is_off) {
    EXPECT_FALSE(metrics::is_enabled());
    const double before = or_zero(now_of("roost_jobs_total{outcome=\"completed\",name=\"bi_nothing\"}"));
    runtime rt(runtime_options().workers(1));
    block_on(rt, run_many());
    EXPECT_EQ(or_zero(now_of("roost_jobs_total{outcome=\"completed\",name=\"bi_nothing\"}")), before);
    {
        const enabled on;
        EXPECT_TRUE(metrics::is_enabled());
    }
    EXPECT_FALSE(metrics::is_enabled());
}

TEST(built_in, OBS_160_run_delay_and_body_time_are_samples_scaled_to_all) {
    const enabled on;
    runtime rt(runtime_options().workers(2));
    const double delays = or_zero(now_of("roost_run_delay_seconds_count"));
    const double bodies = or_zero(now_of("roost_body_seconds_count"));
    for (int i = 0; i < 20; ++i) {
        block_on(rt, run_many());
    }
    EXPECT_NEAR(now_of("roost_run_delay_seconds_count") - delays, 20'000, 4000);
    EXPECT_NEAR(now_of("roost_body_seconds_count") - bodies, 20'000, 4000);
}

task<> sleep_briefly() { co_await sleep_for(2ms); }

TEST(built_in, OBS_161_timers_are_counted_and_their_lateness_measured) {
    const enabled on;
    runtime rt(runtime_options().workers(2).name("bi_timers"));
    const double late = or_zero(now_of("roost_timer_lateness_seconds_count"));
    block_on(rt, sleep_briefly());
    EXPECT_EQ(now_of("roost_timer_lateness_seconds_count"), late + 1);
    EXPECT_EQ(now_of("roost_timers{runtime=\"bi_timers\"}"), 0);
    owned_scope background(rt, "background");
    for (int i = 0; i < 5; ++i) {
        background.launch("sleeper", sleeps());
    }
    while (now_of("roost_timers{runtime=\"bi_timers\"}") != 5) {
        std::this_thread::yield();
    }
    background.cancel();
    background.close_blocking();
    EXPECT_EQ(now_of("roost_timers{runtime=\"bi_timers\"}"), 0);
}

TEST(built_in, OBS_162_a_runtime_is_shown_from_its_constructor_to_its_end) {
    {
        runtime rt(runtime_options().workers(2).name("bi_shown"));
        const std::string text = metrics::to_prometheus();
        EXPECT_EQ(value_of(text, "roost_workers{runtime=\"bi_shown\",state=\"busy\"}") +
                      value_of(text, "roost_workers{runtime=\"bi_shown\",state=\"idle\"}"),
                  2);
        EXPECT_EQ(value_of(text, "roost_blocking_busy{runtime=\"bi_shown\"}"), 0);
    }
    EXPECT_EQ(metrics::to_prometheus().find("bi_shown"), std::string::npos);
}

TEST(built_in, OBS_164_stalls_and_dropped_events_are_counted) {
    const double stalls = now_of("roost_stalls_total{kind=\"runnable\"}");
    const double dropped = now_of("roost_dropped_events_total");
    metrics::count_stall(metrics::stall_kind::runnable);
    metrics::count_dropped_events(5);
    EXPECT_EQ(now_of("roost_stalls_total{kind=\"runnable\"}"), stalls + 1);
    EXPECT_EQ(now_of("roost_dropped_events_total"), dropped + 5);
}

task<> take(mutex& m) { auto mine = co_await m.lock(); }
task<> hold_and_let_wait(scope& s, mutex& m) {
    auto mine = co_await m.lock();
    s.launch("waits", take(m));
    co_await sleep_for(20ms);
}
TEST(built_in, OBS_168_waits_for_locks_are_measured) {
    metrics::enable();
    const double before = or_zero(now_of("roost_lock_wait_seconds_sum"));
    mutex m("bi_lock");
    run(with_scope(hold_and_let_wait, std::ref(m)));
    metrics::set_enabled(false);
    EXPECT_GE(now_of("roost_lock_wait_seconds_sum"), before + 0.015);
}

task<> keep_the_worker() {
    const time_point end = now() + 80ms;
    while (now() < end) {}
    co_return;
}
TEST(built_in, OBS_164_a_body_over_the_soft_budget_is_counted) {
    const double before = now_of("roost_stalls_total{kind=\"body\"}");
    {
        runtime rt(
            runtime_options().workers(1).soft_budget(20ms).on_overrun([](const observe::overrun&, void*) noexcept {}));
        block_on(rt, keep_the_worker());
    }
    EXPECT_GE(now_of("roost_stalls_total{kind=\"body\"}"), before + 1);
}

TEST(built_in, OBS_165_shutdown_trees_and_channels_are_shown_when_asked_for) {
    const shutdown root("bi_root");
    channel<int> queue(4, "bi_queue");
    const metrics::collector guards = metrics::observe_guards(root);
    const metrics::collector depth = metrics::observe_depth(queue, "bi_queue");
    const guard held = root.guard();
    EXPECT_TRUE(queue.try_send(1));
    EXPECT_EQ(now_of("roost_guards{node=\"bi_root\"}"), 1);
    EXPECT_EQ(now_of("roost_channel_depth{channel=\"bi_queue\"}"), 1);
}

// A scrape while runtimes come and go.
TEST(built_in, OBS_162_a_scrape_may_run_while_they_come_and_go) {
    std::atomic<bool> done{false};
    std::thread scraper([&] {
        while (!done) {
            static_cast<void>(metrics::to_openmetrics());
        }
    });
    for (int i = 0; i < 100; ++i) {
        runtime rt(runtime_options().workers(1 + i % 2));
        block_on(rt, nothing());
    }
    done = true;
    scraper.join();
}

int run(const std::string& command, const std::string& text) {
    std::FILE* pipe = ::popen(command.c_str(), "w");
    if (pipe == nullptr) {
        return -1;
    }
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), pipe));
    return ::pclose(pipe);
}

TEST(built_in, OBS_166_the_metrics_of_the_library_are_accepted_by_promtool_and_the_reference_parser) {
    const enabled on;
    runtime rt(runtime_options().workers(2).name("quote\"\nline"));
    block_on(rt, run_many());
    if (run("promtool --version > /dev/null 2>&1", "") == 0) {
        EXPECT_EQ(run("promtool check metrics", metrics::to_prometheus()), 0);
    }
    if (run("/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2> /dev/null", "") == 0) {
        EXPECT_EQ(run("/usr/bin/python3 -c 'import sys; from prometheus_client.openmetrics.parser import "
                      "text_string_to_metric_families as parse; list(parse(sys.stdin.read()))'",
                      metrics::to_openmetrics()),
                  0);
    }
    EXPECT_NE(metrics::to_openmetrics().find("# TYPE roost_jobs_total unknown\n"), std::string::npos);
}

}  // namespace
