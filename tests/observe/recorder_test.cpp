#include <roost/observe/recorder.hpp>

#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/sleep.hpp>

#include "recorded_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace testing_support;

namespace {

using kind = recorded_kind;

class recorder_test : public ::testing::Test {
protected:
    void TearDown() override { recorder::stop(); }
};

// Returns the events of the last job that was created with the name.
std::vector<recorded_event> events_of(const recording& r, std::string_view name) {
    std::uint64_t job = 0;
    std::vector<recorded_event> found;
    for (const recorded_event& e : r.events()) {
        if (e.kind() == kind::job_created && r.text(e.second()) == name) {
            job = e.subject();
        }
        if (job != 0 && e.subject() == job) {
            found.push_back(e);
        }
    }
    return found;
}

std::string kinds_of(const std::vector<recorded_event>& events) {
    std::string out;
    for (const recorded_event& e : events) {
        out.append(out.empty() ? "" : ", ").append(to_string(e.kind()));
    }
    return out;
}

TEST_F(recorder_test, OBS_180_records_the_life_of_a_job) {
    ASSERT_TRUE(recorder::start());
    EXPECT_TRUE(recorder::is_on());
    run_waiter();
    EXPECT_TRUE(recorder::stop());
    EXPECT_FALSE(recorder::is_on());
    const recording r = recorder::snapshot();
    EXPECT_EQ(r.problem(), "");
    EXPECT_EQ(r.lost(), 0U);
    const auto life = events_of(r, "waiter");
    EXPECT_EQ(kinds_of(life),
              "job created, job origin, job resumed, job suspended, job awaits, job left, job resumed, job ended, job left");
    ASSERT_EQ(life.size(), 9U);
    EXPECT_NE(r.place(life[1].first()).find("recorded_jobs.hpp:"), std::string::npos) << r.place(life[1].first());
    EXPECT_EQ(r.text(life[2].second()), "waiter");
    EXPECT_EQ(r.text(life[3].second()), "event");
    EXPECT_NE(r.place(life[4].first()).find("recorded_jobs.hpp:"), std::string::npos) << "the line of the await";
    EXPECT_NE(r.place(life[4].first()), r.place(life[1].first()));
    EXPECT_EQ(static_cast<job_state>(life[7].first()), job_state::completed);
    EXPECT_TRUE(std::is_sorted(r.events().begin(), r.events().end(),
                               [](const recorded_event& a, const recorded_event& b) { return a.time() < b.time(); }));
}

TEST_F(recorder_test, OBS_181_a_wake_names_the_frame_and_the_job_that_woke_it) {
    recorder::start();
    run_waiter();
    const recording r = recorder::snapshot();
    const auto life = events_of(r, "waiter");
    ASSERT_EQ(life.size(), 9U);
    const std::uint64_t frame = life[3].first();
    EXPECT_EQ(life[6].first(), frame) << "the frame that was suspended is resumed";
    const auto woken = std::find_if(r.events().begin(), r.events().end(), [&](const recorded_event& e) {
        return e.kind() == kind::frame_woken && e.subject() == frame;
    });
    ASSERT_NE(woken, r.events().end());
    const auto by = std::find_if(r.events().begin(), r.events().end(), [&](const recorded_event& e) {
        return e.kind() == kind::job_resumed && e.subject() == woken->first();
    });
    ASSERT_NE(by, r.events().end()) << "the job that ran on the waking thread";
    EXPECT_NE(by->subject(), life[0].subject());
    EXPECT_LE(woken->time(), life[6].time());
}

TEST_F(recorder_test, OBS_180_times_are_those_of_the_clock) {
    recorder::start();
    const time_point before = now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    run_jobs(1);
    const time_point after = now();
    const recording r = recorder::snapshot();
    ASSERT_FALSE(r.events().empty());
    for (const recorded_event& e : r.events()) {
        EXPECT_GE(e.time(), before + std::chrono::milliseconds(19));
        EXPECT_LE(e.time(), after + std::chrono::milliseconds(1));
    }
}

task<> cancelled_child(scope& s) {
    event never("never");
    job child = s.launch("stuck", wait_for(never));
    co_await yield();
    child.cancel();
    co_await child.join();
}

TEST_F(recorder_test, OBS_180_records_cancels_and_levels) {
    recorder::start();
    {
        runtime threads(runtime_options().workers(1));
        block_on(threads, with_scope(cancelled_child));
    }
    const recording r = recorder::snapshot();
    const auto life = events_of(r, "stuck");
    EXPECT_EQ(kinds_of(life).find("job suspended") != std::string::npos, true);
    const auto cancelled =
        std::find_if(life.begin(), life.end(), [](const auto& e) { return e.kind() == kind::job_cancelled; });
    ASSERT_NE(cancelled, life.end()) << kinds_of(life);
    const auto raised = std::find_if(life.begin(), life.end(), [](const auto& e) { return e.kind() == kind::level_raised; });
    ASSERT_NE(raised, life.end()) << kinds_of(life);
    EXPECT_EQ(static_cast<level>(raised->first()), level::cancel);
    EXPECT_EQ(r.text(raised->second()), "stuck");
    const auto ended = std::find_if(life.begin(), life.end(), [](const auto& e) { return e.kind() == kind::job_ended; });
    ASSERT_NE(ended, life.end());
    EXPECT_EQ(static_cast<job_state>(ended->first()), job_state::cancelled);
}

task<> use_pool(pool<int>& numbers) {
    auto held = (co_await numbers.acquire("user")).value();
    co_await sleep_for(std::chrono::milliseconds(20));
}
task<> use_pool_twice(scope& s, pool<int>& numbers) {
    s.launch("first", use_pool(numbers));
    s.launch("second", use_pool(numbers));
    co_return;
}

TEST_F(recorder_test, OBS_182_records_pools_timers_and_workers) {
    recorder::start();
    {
        pool<int> numbers(pool_options(1, "numbers"), [] { return 7; });
        runtime threads(runtime_options().workers(1));
        block_on(threads, with_scope(use_pool_twice, std::ref(numbers)));
    }
    const recording r = recorder::snapshot();
    EXPECT_EQ(count_of(r, kind::pool_acquired), 2U);
    EXPECT_EQ(count_of(r, kind::pool_released), 2U);
    EXPECT_EQ(count_of(r, kind::pool_waited), 1U);
    EXPECT_GE(count_of(r, kind::timer_fired), 2U);
    EXPECT_GE(count_of(r, kind::worker_parked), 1U);
    EXPECT_GE(count_of(r, kind::worker_woke), 1U);
    for (const recorded_event& e : r.events()) {
        if (e.kind() == kind::pool_acquired) {
            EXPECT_EQ(r.text(e.second()), "numbers");
            EXPECT_NE(r.place(e.first()).find("recorder_test.cpp:"), std::string::npos);
        }
        if (e.kind() == kind::timer_fired) {
            EXPECT_LT(e.first(), 5'000'000'000U) << "late by seconds";
        }
    }
}

task<> stall() {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));  // longer than the budget below
    co_return;
}

TEST_F(recorder_test, OBS_182_records_a_body_that_does_not_suspend) {
    recorder::start();
    {
        runtime threads(runtime_options()
                            .workers(1)
                            .soft_budget(std::chrono::milliseconds(20))
                            .on_overrun([](const overrun&, void*) noexcept {}));
        block_on(threads, stall());
    }
    const recording r = recorder::snapshot();
    ASSERT_EQ(count_of(r, kind::body_stalled), 1U);
    const auto e =
        std::find_if(r.events().begin(), r.events().end(), [](const auto& x) { return x.kind() == kind::body_stalled; });
    EXPECT_EQ(e->subject(), 0U);
    EXPECT_GE(e->first(), 20'000'000U);
}

TEST_F(recorder_test, OBS_183_overwrites_the_oldest_and_counts_it) {
    recorder::start(recorder_options().records(64));
    run_jobs(1000);
    const recording r = recorder::snapshot();
    EXPECT_EQ(r.problem(), "");
    EXPECT_GT(r.lost(), 1000U);
    ASSERT_GE(r.threads().size(), 1U);
    std::uint64_t lost = 0;
    for (const recorded_thread& t : r.threads()) {
        lost += t.lost();
    }
    EXPECT_EQ(lost, r.lost());
    EXPECT_FALSE(events_of(r, "job").empty()) << "the newest are there";
}

TEST_F(recorder_test, OBS_184_threads_that_ended_are_kept_and_threads_without_a_ring_are_counted) {
    recorder::start(recorder_options().threads(2));
    for (int i = 0; i < 2; ++i) {
        run_jobs(3);
    }
    const recording both = recorder::snapshot();
    EXPECT_GE(both.threads().size(), 1U);
    EXPECT_GT(count_of(both, kind::job_created), 0U) << "the workers have ended";
    recorder::stop();
    recorder::start(recorder_options().threads(0));
    run_jobs(3);
    const recording none = recorder::snapshot();
    EXPECT_TRUE(none.events().empty());
    EXPECT_GT(none.unrecorded(), 10U);
}

TEST_F(recorder_test, OBS_184_a_new_recording_replaces_the_last_one) {
    recorder::start();
    run_jobs(3, "of the first");
    EXPECT_FALSE(recorder::start()) << "it goes on";
    recorder::stop();
    EXPECT_FALSE(recorder::stop());
    EXPECT_FALSE(events_of(recorder::snapshot(), "of the first").empty()) << "stopped, and still there";
    recorder::start();
    run_jobs(3, "of the second");
    const recording r = recorder::snapshot();
    EXPECT_TRUE(events_of(r, "of the first").empty());
    EXPECT_FALSE(events_of(r, "of the second").empty());
}

TEST_F(recorder_test, OBS_185_names_are_copied_and_hostile_ones_are_kept) {
    recorder::start();
    const std::string odd = "a \"quote\",\na newline, \xff\xfe and \xe2\x82";
    run_jobs(2, odd);
    run_jobs(2, std::string(10'000, 'x'));
    const recording r = recorder::snapshot();
    EXPECT_FALSE(events_of(r, odd).empty());
    EXPECT_FALSE(events_of(r, std::string(120, 'x')).empty());
}

// The table of names is the process's, so this test comes last in its file.
TEST_F(recorder_test, OBS_185_names_without_room_are_other) {
    recorder::start(recorder_options().records(1 << 16));
    runtime threads(runtime_options().workers(1));
    for (int i = 0; i < 3000; ++i) {
        block_on(threads, with_scope(many_jobs, 1, "request " + std::to_string(i)));
    }
    const recording r = recorder::snapshot();
    EXPECT_GT(r.unnamed(), 0U);
    EXPECT_FALSE(events_of(r, "other").empty());
}

}  // namespace
