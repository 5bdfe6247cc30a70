// Guards on a tree of three levels from several threads, with random stops: no completion while a guard is out, and no hang.
// ROOST_STRESS_SECONDS sets how long, ROOST_STRESS_PAIRS how many instead; 100 million pairs take some minutes, by hand (docs/verification.md).

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
    std::uint64_t late = 0;  // of these, after the stop
    std::uint64_t missed = 0;  // held guards that a node above did not count, or whose completion did not wait for them

    void add(const worker_result& other) {
        pairs += other.pairs;
        late += other.late;
        missed += other.missed;
    }
};

// While a guard is held: before the stop and after it, its node and the root have work, so neither is complete.
std::uint64_t misses(const tree& t, const shutdown& at, std::uint32_t x) {
    std::uint64_t missed = roost::detail::tree_access::core_of(at.tree_node()).has_work() &&
                                   roost::detail::tree_access::core_of(t.root.tree_node()).has_work()
                               ? 0U
                               : 1U;
    missed += t.root.state() == roost::shutdown_state::complete || at.state() == roost::shutdown_state::complete ? 1U : 0U;
    if (x % 64 == 0) {
        missed += t.root.guard_count() == 0 || at.guard_count() == 0 ? 1U : 0U;
    }
    return missed;
}

// A generator per worker; its high bits are good enough.
class dice {
public:
    explicit dice(std::uint32_t seed) noexcept : state_(seed) {}
    std::uint32_t roll() noexcept { return (state_ = state_ * 1664525U + 1013904223U) >> 8U; }
    bool one_in(std::uint32_t n) noexcept { return roll() % n == 0; }

private:
    std::uint32_t state_;
};

// At a random moment: the root, a quarter of the time a part of it before, half of the time while something is becoming striped.
void stop(const tree& t, dice& d) {
    if (d.one_in(2)) {
        t.pick(d.roll()).expect_contention();
    }
    if (d.one_in(4)) {
        t.middle[0].shut_down();
    }
    t.root.shut_down();
}

// Creates and drops guards until a thread stops the tree, then some late ones.
void work_on(const tree& t, std::uint32_t pairs_to_stop, dice& d, worker_result& r) {
    for (int late = 0; late < 50;) {
        if (d.one_in(pairs_to_stop)) {
            stop(t, d);
        }
        const std::uint32_t x = d.roll();
        const shutdown& at = t.pick(x);
        const guard g = at.guard();
        ++r.pairs;
        if (at.shutting_down().is_resolved()) {
            ++late;
            ++r.late;
        }
        if (x % 16 == 0) {
            const guard second = g;
            ++r.pairs;
            r.missed += misses(t, at, x);
        } else {
            r.missed += misses(t, at, x);
        }
    }
}

// Two threads go through a row of trees, each stopped by either of them after some hundred guards, so that there are many stops;
// every now and then after as many as it takes a node to find out that it had better be striped. A third waits for the ends.
constexpr std::uint32_t row = 64;
worker_result one_row(std::uint32_t seed) {
    const std::vector<tree> trees(row);
    std::array<std::atomic<std::uint32_t>, 2> done{};
    std::array<worker_result, 2> results;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < results.size(); ++i) {
        threads.emplace_back([&, i] {
            dice d(seed * 7 + i);
            for (std::uint32_t k = 0; k < row; ++k) {
                work_on(trees[k], k == row / 2 ? 60'000 : 500, d, results[i]);
                done[i].store(k + 1);
                while (done[1 - i].load() + 1 < k + 1) {  // no thread has a tree to itself
                    std::this_thread::yield();
                }
            }
        });
    }
    for (const tree& t : trees) {
        t.root.completion().wait_blocking();
    }
    for (std::thread& th : threads) {
        th.join();
    }
    for (const tree& t : trees) {
        EXPECT_TRUE(t.root.state() == roost::shutdown_state::complete);
        EXPECT_EQ(t.root.guard_count(), 0U);
    }
    results[0].add(results[1]);
    return results[0];
}

TEST(guard_stress, SHUT_71_no_premature_completion_and_no_hang) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_to_run());
    const std::uint64_t wanted = pairs_wanted();
    worker_result total;
    std::uint32_t rows = 0;
    while (wanted != 0 ? total.pairs < wanted : std::chrono::steady_clock::now() < end) {
        total.add(one_row(static_cast<std::uint32_t>(roost::seam::random_u64())));
        ++rows;
    }
    EXPECT_EQ(total.missed, 0U);
    EXPECT_EQ(total.late, std::uint64_t(rows) * row * 100) << "both saw every stop";
    std::printf("  %llu guard pairs, %u trees stopped, %llu pairs after a stop, %llu missed\n",
                static_cast<unsigned long long>(total.pairs), rows * row, static_cast<unsigned long long>(total.late),
                static_cast<unsigned long long>(total.missed));
}

// Children and guards come and go while reports are made; guards are dropped by other threads than made them.
TEST(guard_stress, SHUT_74_SHUT_110_reports_during_traffic) {
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
            EXPECT_TRUE(e.kind() != "guard" || e.site().is_known()) << e.to_string();
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
