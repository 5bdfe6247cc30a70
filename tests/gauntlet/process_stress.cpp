// Scenarios 20 to 22: signals and forks. The service runs in a process of its own: this program again.

#include <roost/runtime/runtime.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "../runtime/fixture.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#if defined(ROOST_TEST_SERVICE)
#include <roost/service/service.hpp>

#include "../service/child_process.hpp"
#endif

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;
using gauntlet::load;
using gauntlet::quiet;

// --- 20: SIGTERM at any moment ---------------------------------------------------------------------------------------------

#if defined(ROOST_TEST_SERVICE)

task<> piece_of_work(service::ledger::entry entry, duration d) {
    co_await sleep_for(d);
    entry.complete();
}
task<> serve(service::host& h) {
    for (int i = 0; i < 20; ++i) {
        h.main().launch("work", piece_of_work(h.ledger().accept(), std::chrono::milliseconds(i * 5 / 2)));
    }
    h.set_ready();
    h.log("ready");
    co_await h.stopping();
    const char* how = std::getenv("ROOST_TEST_DRAIN");
    co_await sleep_for(how == nullptr ? duration(50ms) : duration(1h));  // the drain
}

// What the child process runs.
TEST(scenario, DISABLED_run) {
    service::remember_signals();
    std::exit(service::run(serve, service::options().name("drained").total(10s).report_every(5ms).runtime(
                                      runtime_options().workers(1).soft_budget(duration(0)))));
}

TEST(gauntlet_process, GAUNTLET_20_a_signal_at_any_moment_of_a_drain) {
    const quiet q("scenario 20");
    const long runs = load(500, 8);
    std::mt19937 random(static_cast<unsigned>(::getpid()));
    long clean = 0;
    long cancelled = 0;
    long died = 0;
    double longest = 0;
    for (long i = 0; i < runs; ++i) {
        service::child_process child("drain");
        ASSERT_TRUE(child.wait_for("ready"));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 50'000));
        child.send(SIGTERM);
        const bool twice = i % 2 == 1;
        if (twice) {
            std::this_thread::sleep_for(10ms);
            child.send(SIGTERM);
        }
        const auto asked = std::chrono::steady_clock::now();
        const int status = child.wait();
        longest =
            std::max(longest, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - asked).count());
        if (service::died_of(status, SIGTERM)) {
            ASSERT_TRUE(twice) << "only a second one can come when the service is over\n" << child.output();
            ++died;
            continue;
        }
        ASSERT_TRUE(service::ended_with(status, 0) || (twice && service::ended_with(status, 128 + SIGTERM)))
            << status << child.output();
        ASSERT_EQ(child.output().back(), '\n') << child.output();
        ASSERT_EQ(child.last_line().find("ledger: accepted=20 "), 0U) << child.output();
        ASSERT_NE(child.last_line().find(" lost=0"), std::string::npos) << child.output();
        (WEXITSTATUS(status) == 0 ? clean : cancelled) += 1;
    }
    // On a busy machine every drain may have been over by then. This one is not.
    service::child_process child("drain", {{"ROOST_TEST_DRAIN", "long"}, {"ROOST_SHUTDOWN_TOTAL", "6h"}});
    ASSERT_TRUE(child.wait_for("ready"));
    child.send(SIGTERM);
    ASSERT_TRUE(child.wait_for("phase drain"));
    child.send(SIGTERM);
    ASSERT_TRUE(service::ended_with(child.wait(), 128 + SIGTERM)) << "no second signal was heard\n" << child.output();
    ASSERT_NE(child.last_line().find(" lost=0"), std::string::npos) << child.output();
    ++cancelled;
    q.say("%ld runs: %ld drained, %ld cancelled, %ld signalled after the end, every ledger whole; longest end %.0f ms",
          runs + 1, clean, cancelled, died, longest);
}

#endif

// --- 21: a storm of signals ------------------------------------------------------------------------------------------------

long signal_all_threads(int signal) {
    long sent = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        sent += ::syscall(SYS_tgkill, ::getpid(), std::atoi(entry.path().filename().c_str()), signal) == 0 ? 1 : 0;
    }
    return sent;
}

task<> busy(semaphore& s, std::atomic<bool>& stop, std::atomic<long>& turns) {
    while (!stop.load()) {
        auto p = co_await s.acquire();
        turns.fetch_add(1);
        co_await yield();
    }
}

// How late timers were, in milliseconds.
struct lateness {
    std::vector<double> all;
    [[nodiscard]] double at(double share) {
        std::sort(all.begin(), all.end());
        return all.empty() ? 0 : all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    }
};

// Timers that a worker runs and waits of this thread, one after the other, until `end`.
void time_until(time_point end, runtime& rt, lateness& late) {
    while (now() < end) {
        countdown done(2);
        call c([&] { done.down(); });
        test_timer t([&] { done.down(); });
        const time_point due = deadline_after(now(), 200us);
        t.set_deadline(due);
        ASSERT_TRUE(rt.timers().arm(t));
        ASSERT_TRUE(rt.post(c));
        done.wait();
        ASSERT_FALSE(rt.timers().disarm(t));
        ASSERT_GE(now(), due) << "never early";
        late.all.push_back(std::chrono::duration<double, std::milli>(now() - due).count());
        event nobody;
        const time_point until = deadline_after(now(), 100us);
        ASSERT_FALSE(nobody.wait_blocking(until)) << "a signal is no wake";
        ASSERT_GE(now(), until);
    }
}

TEST(gauntlet_process, GAUNTLET_21_RUN_104_a_storm_of_signals_loses_no_wake_and_no_timer) {
    const quiet q("scenario 21");
    struct sigaction action{};
    struct sigaction before[2];
    action.sa_handler = +[](int) {};  // no SA_RESTART: every interrupted call says EINTR
    sigaction(SIGUSR1, &action, &before[0]);
    sigaction(SIGCHLD, &action, &before[1]);
    std::atomic<long> turns{0};
    long signals = 0;
    lateness calm;
    lateness stormy;
    const long length = load(10'000, 300);
    {
        runtime rt(runtime_options().workers(2));
        std::atomic<bool> stop{false};
        semaphore s(2, "turns");
        owned_scope root(rt, scope_options("root").report_failures());
        for (int i = 0; i < 8; ++i) {
            root.launch("busy", busy(s, stop, turns));
        }
        root.request_close();
        time_until(deadline_after(now(), std::chrono::milliseconds(length / 5)), rt, calm);
        std::thread storm([&] {
            // Ten thousand a second to all threads together, by the clock: what was missed is sent at once.
            const time_point start = now();
            for (long round = 0; !stop.load(); ++round) {
                signals += signal_all_threads(round % 2 == 0 ? SIGUSR1 : SIGCHLD);
                const time_point next = deadline_after(start, std::chrono::microseconds(100 * signals));
                while (now() < next && !stop.load()) {
                    std::this_thread::sleep_for(50us);
                }
            }
        });
        time_until(deadline_after(now(), std::chrono::milliseconds(length)), rt, stormy);
        stop = true;
        storm.join();
        root.close_blocking();
    }
    sigaction(SIGUSR1, &before[0], nullptr);
    sigaction(SIGCHLD, &before[1], nullptr);
    EXPECT_GT(turns.load(), 0);
    q.say("%ld signals in %ld ms, %zu timers and as many blocking waits, %ld turns", signals, length, stormy.all.size(),
          turns.load());
    q.say("timers late by %.3f / %.3f / %.1f ms (half, 99 of 100, all), before the storm %.3f / %.3f / %.1f", stormy.at(0.5),
          stormy.at(0.99), stormy.at(1), calm.at(0.5), calm.at(0.99), calm.at(1));
}

// --- 22: forks under load --------------------------------------------------------------------------------------------------

TEST(gauntlet_process, GAUNTLET_22_RUN_105_forks_under_load) {
    const quiet q("scenario 22");
    const long forks = load(1000, 30);
    long told = 0;
    std::atomic<long> turns{0};
    {
        runtime rt(runtime_options().workers(2).name("mill"));
        std::atomic<bool> stop{false};
        semaphore s(1, "turns");
        owned_scope root(rt, scope_options("root").report_failures());
        for (int i = 0; i < 4; ++i) {
            root.launch("busy", busy(s, stop, turns));
        }
        root.request_close();
        call c([] {});
        for (long i = 0; i < forks; ++i) {
            const long kind = i % 3;
            const pid_t child = ::fork();
            ASSERT_GE(child, 0);
            if (child == 0) {
                ::alarm(20);  // a deadlock ends by signal
                if (kind == 1) {
                    ::execl("/bin/true", "true", static_cast<char*>(nullptr));
                } else if (kind == 2) {
                    ::close(STDERR_FILENO);
                    rt.post(c);
                }
                ::_exit(0);
            }
            int status = -1;
            ASSERT_EQ(::waitpid(child, &status, 0), child);
            if (kind == 2) {
                ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
                ++told;
            } else {
                ASSERT_EQ(status, 0);
            }
        }
        stop = true;
        root.close_blocking();
    }
    EXPECT_GT(turns.load(), 0);
    q.say("%ld forks: %ld touched the runtime and were told, the others exec()ed or _exit()ed; %ld turns in the parent",
          forks, told, turns.load());
}

}  // namespace
