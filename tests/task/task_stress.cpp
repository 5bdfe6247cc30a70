// Real threads: storms of cancels, a million of everything, memory flat. Sizes follow ROOST_STRESS_SCALE (default 0.05).
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

int scaled(int full) {
    const char* text = std::getenv("ROOST_STRESS_SCALE");
    const double scale = text == nullptr ? 0.05 : std::atof(text);
    const int n = static_cast<int>(full * scale);
    return n < 100 ? 100 : n;
}

class counted {
public:
    explicit counted(std::atomic<long>& alive) : alive_(&alive) { alive_->fetch_add(1); }
    counted(counted&& other) noexcept : alive_(other.alive_) { alive_->fetch_add(1); }
    ~counted() { alive_->fetch_sub(1); }

private:
    std::atomic<long>* alive_;
};

// Bytes in use by malloc, so that growth is seen even if the system does not get memory back.
std::size_t in_use() { return mallinfo2().uordblks; }

task<> nothing(std::atomic<long>& ran) {
    ran.fetch_add(1);
    co_return;
}
task<> churn(scope& s, int n, std::atomic<long>& ran, std::size_t& early, std::size_t& late) {
    for (int i = 0; i < n; ++i) {
        const job j = s.launch("child", nothing(ran));
        co_await j.join();
        if (i == n / 10) {
            early = in_use();
        }
    }
    late = in_use();
}
task<> run_churn(int n, std::atomic<long>& ran, std::size_t& early, std::size_t& late) {
    co_await with_scope(churn, n, std::ref(ran), std::ref(early), std::ref(late));
}

TEST(task_stress, TASK_35_a_million_children_of_one_scope_leave_nothing_behind) {
    runtime rt(runtime_options().workers(2));
    const int n = scaled(1'000'000);
    std::atomic<long> ran{0};
    std::size_t early = 0;
    std::size_t late = 0;
    block_on(rt, run_churn(n, ran, early, late));
    EXPECT_EQ(ran.load(), n);
    EXPECT_LT(late, early + 1024 * 1024);
}

task<> naps(int n, std::size_t& early, std::size_t& late) {
    for (int i = 0; i < n; ++i) {
        co_await sleep_for(1us);
        if (i == n / 10) {
            early = in_use();
        }
    }
    late = in_use();
}

task<> launch_naps(scope& s, int naps_each, int jobs, std::size_t& early, std::size_t& late) {
    std::vector<job> sleepers;
    std::size_t ignored = 0;
    for (int i = 1; i < jobs; ++i) {
        sleepers.push_back(s.launch("sleeper", naps(naps_each, ignored, ignored)));
    }
    const job last = s.launch("sleeper", naps(naps_each, early, late));
    co_await last.join();
}
task<> run_launch_naps(int naps_each, int jobs, std::size_t& early, std::size_t& late) {
    co_await with_scope(launch_naps, naps_each, jobs, std::ref(early), std::ref(late));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ROOST_ASAN
constexpr int all_sleeps = 100'000;
#else
constexpr int all_sleeps = 1'000'000;
#endif

// Whatever the scale: on a clock that jumps a million sleeps take a second or two.
TEST(task_stress, TASK_35_a_million_sleeps_in_one_scope_leave_nothing_behind) {
    roost::testing::virtual_time time;
    constexpr int jobs = 10;
    std::size_t early = 0;
    std::size_t late = 0;
    {
        owned_scope root(time, scope_options("root").report_failures());
        const job all = root.launch("all", run_launch_naps(all_sleeps / jobs, jobs, early, late));
        root.request_close();
        const time_point begun = time.now();
        EXPECT_GE(time.run(), static_cast<std::size_t>(all_sleeps)) << "each sleep ended in a body";
        EXPECT_GE(time.now() - begun, 1us * (all_sleeps / jobs));
        EXPECT_EQ(all.state(), job_state::completed);
        EXPECT_TRUE(root.is_closed());
    }
    EXPECT_EQ(time.armed_timers(), 0U);
    EXPECT_LE(late, early + 16 * 1024) << "bytes per sleep would be megabytes";
}

TEST(task_stress, TASK_35_sleeps_in_one_job_leave_nothing_behind) {
    runtime rt(runtime_options().workers(2));
    std::size_t early = 0;
    std::size_t late = 0;
    block_on(rt, naps(scaled(100'000), early, late));
    EXPECT_LT(late, early + 1024 * 1024);
}

task<> nap_long() { co_await sleep_for(1h); }
task<> many_naps(scope& s, int n, event& ready) {
    for (int i = 0; i < n; ++i) {
        s.launch("nap", nap_long());
    }
    ready.set();
    co_await sleep_for(1h);
}
task<> run_naps(int n, event& ready) { co_await with_scope(many_naps, n, std::ref(ready)); }

task<> join(job j) { co_await j.join(); }

// What is left after the first time is kept for later use; after the second it must not be more.
TEST(task_stress, TASK_35_a_million_sleepers_are_cancelled_and_leave_no_timer) {
    runtime rt(runtime_options().workers(2));
    owned_scope root(rt, scope_options("root").report_failures());
    const int sleepers = scaled(1'000'000) / 2;
    std::size_t after[4];
    for (std::size_t& bytes : after) {
        event ready;
        const job j = root.launch("naps", run_naps(sleepers, ready));
        ready.wait_blocking();
        j.cancel();
        block_on(rt, join(j));
        EXPECT_EQ(j.state(), job_state::cancelled);
        bytes = in_use();
    }
    // Workers keep some megabytes of frames for the next ones, and which of them does is chance. Ten bytes left behind by every
    // sleeper would be more.
    EXPECT_LT(after[3], after[0] + 12 * 1024 * 1024 + static_cast<std::size_t>(sleepers) * 8);
    root.close_blocking();
    EXPECT_EQ(rt.shut_down().timers_left(), 0U);
}

// Permits are passed around while foreign threads cancel the holders and the waiters.
task<> take_turns(semaphore& permits, std::atomic<long>& held, std::atomic<long>& most) {
    for (int i = 0; i < 50; ++i) {
        auto permit = co_await permits.acquire();
        const long now = held.fetch_add(1) + 1;
        if (now > most.load()) {
            most.store(now);
        }
        co_await yield();
        held.fetch_sub(1);
    }
}

TEST(task_stress, TASK_30_a_storm_of_cancels_from_foreign_threads_loses_no_permit) {
    runtime rt(runtime_options().workers(2));
    for (int round = 0; round < scaled(400); ++round) {
        semaphore permits(2);
        event done;
        std::atomic<long> held{0};
        std::atomic<long> most{0};
        owned_scope root(rt, scope_options("root").report_failures());
        std::vector<job> jobs;
        for (int i = 0; i < 8; ++i) {
            jobs.push_back(root.launch("turns", take_turns(permits, held, most)));
        }
        std::vector<std::thread> storm;
        for (unsigned t = 0; t < 3; ++t) {
            storm.emplace_back([&, t] {
                for (std::size_t i = t; i < jobs.size(); i += 2) {
                    jobs[i].cancel();
                }
            });
        }
        for (std::thread& t : storm) {
            t.join();
        }
        root.close_blocking();
        EXPECT_LE(most.load(), 8);
        EXPECT_EQ(permits.available(), 2U);
    }
}

task<> cancel_the_other(event& start_now, job& other) {
    co_await start_now.wait();
    other.cancel();
    co_await checkpoint();
}

TEST(task_stress, TASK_30_two_jobs_that_cancel_each_other_do_not_deadlock) {
    runtime rt(runtime_options().workers(2));
    for (int round = 0; round < scaled(20'000); ++round) {
        event go;
        job a;
        job b;
        owned_scope root(rt, scope_options("root").report_failures());
        a = root.launch("a", cancel_the_other(go, b));
        b = root.launch("b", cancel_the_other(go, a));
        go.set();
        root.close_blocking();
        EXPECT_TRUE(a.cancel_requested() || b.cancel_requested());
    }
}

task<> wait_in(event& never, std::atomic<long>& alive, counted) {
    co_await never.wait();
    alive.store(-1);
}
task<> keep_launching(scope& s, event& never, std::atomic<long>& alive, event& going) {
    for (int i = 0; i < 100; ++i) {
        s.launch("child", wait_in(never, alive, counted(alive)));
        if (i == 20) {
            going.set();
        }
    }
    co_await never.wait();
}
task<> run_launching(event& never, std::atomic<long>& alive, event& going) {
    co_await with_scope(keep_launching, std::ref(never), std::ref(alive), std::ref(going));
}

TEST(task_stress, JOB_12_children_started_while_the_scope_is_cancelled_are_each_cancelled) {
    runtime rt(runtime_options().workers(2));
    for (int round = 0; round < scaled(4'000); ++round) {
        event never;
        event going;
        std::atomic<long> alive{0};
        owned_scope root(rt, scope_options("root").report_failures());
        const job j = root.launch("launches", run_launching(never, alive, going));
        going.wait_blocking();
        j.cancel();
        root.close_blocking();
        EXPECT_EQ(alive.load(), 0);
        EXPECT_EQ(never.waiters_now(), 0U);
        EXPECT_EQ(j.state(), job_state::cancelled);
    }
}

task<> race_body(event& e, std::atomic<int>& value) {
    co_await e.wait();
    value.fetch_add(1);
}

TEST(task_stress, TASK_30_success_and_cancel_at_once_give_exactly_one_outcome) {
    runtime rt(runtime_options().workers(2));
    long completed = 0;
    long ended_cancelled = 0;
    const int rounds = scaled(20'000);
    for (int round = 0; round < rounds; ++round) {
        event e;
        std::atomic<int> value{0};
        owned_scope root(rt, scope_options("root").report_failures());
        const job j = root.launch("race", race_body(e, value));
        std::thread waker([&] { e.set(); });
        j.cancel();
        waker.join();
        root.close_blocking();
        const bool done = j.state() == job_state::completed;
        EXPECT_EQ(value.load(), done ? 1 : 0);
        (done ? completed : ended_cancelled) += 1;
    }
    EXPECT_EQ(completed + ended_cancelled, rounds);
}

}  // namespace
