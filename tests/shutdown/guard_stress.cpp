// Guards on a tree of three levels from several threads, with random stops: no completion while a guard is out, and no hang.
// ROOST_STRESS_SECONDS sets how long; 100 million pairs take some minutes (./check --deep).

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;

double seconds_to_run() {
    const char* text = std::getenv("ROOST_STRESS_SECONDS");
    return text == nullptr ? 2.0 : std::atof(text);
}
std::uint64_t pairs_wanted() {
    const char* text = std::getenv("ROOST_STRESS_PAIRS");
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

struct tree {
    shutdown root{"root"};
    std::array<shutdown, 2> middle{root.child("m0"), root.child("m1")};
    std::array<shutdown, 4> leaf{middle[0].child("l0"), middle[0].child("l1"), middle[1].child("l2"), middle[1].child("l3")};

    const shutdown& pick(std::uint32_t r) const {
        const std::uint32_t which = r % 7;
        return which == 0 ? root : which < 3 ? middle[which - 1] : leaf[which - 3];
    }
};

struct worker_result {
    std::uint64_t pairs = 0;
    std::uint64_t missed = 0;  // a held guard that a completion above did not wait for
};

// Makes and drops guards until the tree is stopped, then some late ones.
worker_result work(const tree& t, std::uint32_t seed) {
    worker_result r;
    std::uint32_t x = seed;
    int late = 0;
    while (late < 50) {
        x = x * 1664525U + 1013904223U;
        const shutdown& at = t.pick(x >> 16U);
        const guard g = at.guard();
        ++r.pairs;
        if (at.shutting_down().is_resolved()) {
            ++late;
        }
        if ((x >> 28U) == 0) {
            const guard second = g;
            ++r.pairs;
            r.missed += is_complete(t.root.state()) || is_complete(at.state()) ? 1U : 0U;
        } else {
            r.missed += is_complete(t.root.state()) ? 1U : 0U;
        }
    }
    return r;
}

TEST(guard_stress, SHUT_71_no_premature_completion_and_no_hang) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_to_run());
    const std::uint64_t wanted = pairs_wanted();
    worker_result total;
    std::uint64_t rounds = 0;
    while (wanted != 0 ? total.pairs < wanted : std::chrono::steady_clock::now() < end) {
        const tree t;
        std::array<worker_result, 2> results;
        std::vector<std::thread> threads;
        for (std::uint32_t i = 0; i < results.size(); ++i) {
            threads.emplace_back(
                [&t, &results, i, rounds] { results[i] = work(t, static_cast<std::uint32_t>(rounds) * 7 + i); });
        }
        const std::uint64_t r = roost::random_u64();
        const bool from_the_middle = (r & 3U) == 0;
        if (wanted != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(r % 100));
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(r % 2000));
        }
        if (from_the_middle) {
            t.middle[0].shut_down();
        }
        t.root.shut_down().wait_blocking();
        for (std::thread& th : threads) {
            th.join();
        }
        EXPECT_TRUE(is_complete(t.root.state()));
        EXPECT_EQ(t.root.guard_count(), 0U);
        for (const worker_result& w : results) {
            total.pairs += w.pairs;
            total.missed += w.missed;
        }
        ++rounds;
    }
    EXPECT_EQ(total.missed, 0U);
    std::printf("  %llu guard pairs in %llu rounds, %llu missed\n", static_cast<unsigned long long>(total.pairs),
                static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(total.missed));
}

// Children and guards come and go while reports are made; guards are dropped by other threads than made them.
TEST(guard_stress, SHUT_74_reports_during_traffic) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_to_run() / 2);
    const shutdown root("root");
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> made{0};
    guard travelling;
    std::mutex lock;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            while (!over.load()) {
                const shutdown c = root.child("connection");
                guard g = c.guard();
                const std::lock_guard hold(lock);
                std::swap(g, travelling);
                made.fetch_add(1);
            }
        });
    }
    std::size_t most = 0;
    while (std::chrono::steady_clock::now() < end) {
        const auto r = root.report();
        most = std::max(most, r.total());
        for (const auto& e : r) {
            EXPECT_TRUE(e.name() == "connection" || e.name() == "root") << e.to_string();
        }
    }
    over.store(true);
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_LE(root.report().total(), 1U);
    travelling.reset();
    EXPECT_TRUE(root.report().is_empty());
    EXPECT_LE(most, 16U);
    EXPECT_GT(made.load(), 0U);
}

}  // namespace
