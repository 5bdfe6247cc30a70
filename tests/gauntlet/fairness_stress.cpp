// Scenario 30, the fair half: a thousand in line and one thread that pushes in. Everybody is served, or is named.

#include <roost/runtime/runtime.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/owned_scope.hpp>

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using gauntlet::quiet;

constexpr std::chrono::seconds patience =
    gauntlet::sanitized ? 100s : 10s;  // and five times that where nothing is optimised

task<> in_line(semaphore& s, std::atomic<long>& mine, std::atomic<long>& unserved, std::atomic<bool>& over) {
    while (!over.load()) {
        auto p = co_await s.acquire();
        if (mine.fetch_add(1) == 0) {
            unserved.fetch_sub(1);
        }
    }
}

// Until `is_true`; false after a time in which it should have been.
template <class Fn>
bool in_time(Fn is_true) {
#if defined(__OPTIMIZE__) && !defined(ROOST_SEAM_JITTER)
    const auto limit = std::chrono::steady_clock::now() + patience;
#else
    const auto limit = std::chrono::steady_clock::now() + 5 * patience;
#endif
    while (!is_true()) {
        if (std::chrono::steady_clock::now() > limit) {
            return false;
        }
    }
    return true;
}

TEST(gauntlet_fairness, GAUNTLET_30_a_thousand_in_line_beside_one_that_pushes_in) {
    const quiet q("scenario 30");
    runtime rt(runtime_options().workers(2));
    semaphore s(1, "contested");
    std::atomic<long> unserved{1000};
    std::atomic<bool> over{false};
    std::deque<std::atomic<long>> served(1000);
    {
        owned_scope root(rt, scope_options("root").report_failures());
        semaphore::permit first = s.try_acquire();
        for (auto& mine : served) {
            root.launch("in line", in_line(s, mine, unserved, over));
        }
        root.request_close();
        EXPECT_TRUE(in_time([&] {
            std::this_thread::yield();
            return s.waiters_now() == served.size();
        })) << s.waiters_now()
            << " in line";
        std::atomic<long> tried{0};
        long pushed_in = 0;
        bool all = false;
        std::thread barging([&] {
            all = in_time([&] {
                pushed_in += s.try_acquire() ? 1 : 0;
                tried.fetch_add(1);
                return unserved.load() == 0;
            });
        });
        while (tried.load() == 0) {
            std::this_thread::yield();
        }
        const auto began = std::chrono::steady_clock::now();
        first.give_back();
        barging.join();
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        over = true;
        std::string starved;
        for (std::size_t i = 0; i < served.size(); ++i) {
            starved += served[i].load() == 0 ? ' ' + std::to_string(i) : std::string();
        }
        if (!all) {
            ADD_FAILURE() << "not served in " << took << " s, of those in line:" << starved;
            root.cancel();  // who is lost in the queue would not end
        }
        root.close_blocking();
        const auto [least, most] = std::minmax_element(served.begin(), served.end());
        q.say(
            "fairness: 1000 waiters served between %ld and %ld times, all once after %.3f s; a barging thread %ld of %ld "
            "times",
            least->load(), most->load(), took, pushed_in, tried.load());
    }
    EXPECT_EQ(s.available(), 1U);
    EXPECT_EQ(s.waiters_now(), 0U);
}

}  // namespace
