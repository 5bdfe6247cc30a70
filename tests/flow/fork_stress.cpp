// Real threads: random trees of groups, of children that return, suspend, fail, cancel themselves, ignore and shield, under
// deadlines and cancels from outside. Sizes follow ROOST_STRESS_SCALE (default 0.05).
#include <roost/base/failure_sink.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/ignore.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;

namespace {

int scaled(int full) {
    const char* text = std::getenv("ROOST_STRESS_SCALE");
    const int n = static_cast<int>(full * (text == nullptr ? 0.05 : std::atof(text)));
    return n < 50 ? 50 : n;
}

std::atomic<long> alive{0};
class counted {
public:
    counted() { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    ~counted() { --alive; }
};

std::uint32_t next(std::uint32_t& seed) {
    seed = seed * 1664525U + 1013904223U;
    return seed >> 8U;
}

task<int> grow(std::uint32_t seed, int depth, counted);
task<int> plain_child(counted) { co_return 1; }
task<> note_exit(counted) { co_return; }

task<int> odd_child(std::uint32_t seed, counted) {
    switch (seed % 9) {
        case 0: co_await yield(); break;
        case 1: co_await sleep_for(std::chrono::microseconds(seed % 200)); break;
        case 2: throw std::runtime_error("odd");
        case 3: {
            const job me = co_await this_job();
            me.cancel();
            co_await checkpoint();
            break;
        }
        case 4: {
            auto guard = co_await ignore_cancellation();
            co_await sleep_for(std::chrono::microseconds(seed % 100));
            break;
        }
        case 5: co_return co_await shield(1s, plain_child(counted()));
        case 6: {
            co_await on_exit(note_exit, counted());
            co_await yield();
            break;
        }
        case 7: {
            auto in_time = co_await move_on_after(std::chrono::microseconds(seed % 300), plain_child(counted()));
            co_return in_time ? *in_time : 1;
        }
        default: break;
    }
    co_return 1;
}

task<int> all_below(std::uint32_t seed, int depth) {
    std::vector<task<int>> children;
    const std::uint32_t count = 1 + next(seed) % 4;
    for (std::uint32_t i = 0; i < count; ++i) {
        children.push_back(grow(next(seed), depth - 1, counted()));
    }
    const std::vector<int> got = co_await when_all(std::move(children));
    int sum = 0;
    for (const int one : got) {
        sum += one;
    }
    co_return sum;
}

task<int> grow(std::uint32_t seed, int depth, counted) {
    if (depth == 0) {
        const std::uint32_t kind = next(seed);
        if (kind % 4 == 0) {
            co_return co_await odd_child(next(seed), counted());
        }
        co_return 1;
    }
    switch (next(seed) % 6) {
        case 0: {
            auto won = co_await race(grow(next(seed), depth - 1, counted()), grow(next(seed), depth - 1, counted()));
            co_return won.value();
        }
        case 1: {
            auto [a, b] =
                co_await when_all_settled(grow(next(seed), depth - 1, counted()), grow(next(seed), depth - 1, counted()));
            co_return (a ? a.value() : 0) + (b ? b.value() : 0);
        }
        case 2: {
            auto late = co_await move_on_after(
                std::chrono::microseconds(next(seed) % 2000),
                when_all(grow(next(seed), depth - 1, counted()), grow(next(seed), depth - 1, counted())));
            co_return late ? std::get<0>(*late) + std::get<1>(*late) : 0;
        }
        case 3: {
            auto ended =
                co_await as_outcome(first_success(grow(next(seed), depth - 1, counted()), odd_child(seed, counted())));
            co_return ended ? ended.value().value() : 0;
        }
        default: co_return co_await all_below(next(seed), depth);
    }
}

void grow_trees(unsigned workers, int rounds, int depth) {
    runtime threads(runtime_options().workers(workers));
    std::mt19937 random(workers);
    for (int i = 0; i < rounds; ++i) {
        owned_scope root(threads.get_executor(), scope_options("root").report_failures());
        std::vector<job> jobs;
        for (int k = 0; k < 4; ++k) {
            jobs.push_back(root.launch("tree", grow(static_cast<std::uint32_t>(random()), depth, counted())));
        }
        if (random() % 2 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
            jobs[random() % 4].cancel();
        }
        if (random() % 4 == 0) {
            root.cancel();
        }
        if (random() % 8 == 0) {
            EXPECT_FALSE(dump(root).empty());
        }
        root.request_close();
        while (!root.is_closed()) {
            std::this_thread::yield();
        }
        ASSERT_EQ(alive.load(), 0) << "round " << i;
    }
}

TEST(fork_stress, JOB_72_random_trees_of_groups) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    for (const unsigned workers : {1U, 2U, 4U}) {
        grow_trees(workers, scaled(4000), 5);
    }
    set_failure_sink(before);
}

task<std::uint64_t> fib(unsigned n) {
    if (n < 2) {
        co_return n;
    }
    auto [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
    co_return a + b;
}

TEST(fork_stress, JOB_74_recursion_on_several_workers) {
    for (const unsigned workers : {2U, 4U}) {
        runtime threads(runtime_options().workers(workers));
        for (int i = 0; i < scaled(400); ++i) {
            ASSERT_EQ(block_on(threads, fib(14)), 377U);
        }
    }
}

}  // namespace
