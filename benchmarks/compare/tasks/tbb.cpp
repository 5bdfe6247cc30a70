// oneTBB 2021.8: task_group inside a task_arena of one or two threads. Fork-join only: nothing waits or is cancelled.
#include "../../harness/harness.hpp"
#include "fork_join.hpp"

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace {

bench::sample spawn_join(bench::budget b, int threads) {
    oneapi::tbb::task_arena arena(threads);
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        arena.execute([&] {
            std::atomic<std::uint64_t> ended{0};
            for (std::uint64_t round = 0; round < n; ++round) {
                oneapi::tbb::task_group group;
                for (int i = 0; i < 1000; ++i) group.run([&] { ended.fetch_add(1, std::memory_order_relaxed); });
                group.wait();
            }
        });
    });
    return {s.value / 1000, s.ops * 1000};
}

// Only run() is timed.
bench::sample create(bench::budget b) {
    oneapi::tbb::task_arena arena(1);
    return bench::measure(b, [&](std::uint64_t n) {
        double took = 0;
        arena.execute([&] {
            std::atomic<std::uint64_t> ended{0};
            oneapi::tbb::task_group group;
            for (std::uint64_t left = n; left > 0;) {
                std::uint64_t const now = left < 500 ? left : 500;
                left -= now;
                auto const start = bench::clock::now();
                for (std::uint64_t i = 0; i < now; ++i) group.run([&] { ended.fetch_add(1, std::memory_order_relaxed); });
                took += bench::ns_since(start);
                group.wait();
            }
        });
        return took;
    });
}

bench::sample create_join(bench::budget b) {
    oneapi::tbb::task_arena arena(1);
    return bench::per_op(b, [&](std::uint64_t n) {
        arena.execute([&] {
            oneapi::tbb::task_group group;
            int result = 0;
            for (std::uint64_t i = 0; i < n; ++i) {
                group.run([&] { result = 1; });
                group.wait();
                bench::keep(result);
            }
        });
    });
}

bench::sample concurrent(bench::budget b, int count) {
    oneapi::tbb::task_arena arena(1);
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        arena.execute([&] {
            oneapi::tbb::task_group group;
            std::vector<int> results(static_cast<std::size_t>(count));
            for (std::uint64_t i = 0; i < n; ++i) {
                for (int& result : results) group.run([&result] { result = 1; });
                group.wait();
                bench::keep(results.data());
            }
        });
    });
    return {s.value / count, s.ops * static_cast<std::uint64_t>(count)};
}

std::uint64_t fib(unsigned n) {
    if (n < 2) return n;
    std::uint64_t left = 0;
    oneapi::tbb::task_group group;
    group.run([&] { left = fib(n - 1); });
    std::uint64_t const right = fib(n - 2);
    group.wait();
    return left + right;
}

std::uint64_t skynet(std::uint64_t number, unsigned depth) {
    if (depth == 0) return number;
    std::uint64_t parts[10];
    std::uint64_t width = 1;
    for (unsigned i = 1; i < depth; ++i) width *= 10;
    oneapi::tbb::task_group group;
    for (std::uint64_t i = 0; i < 10; ++i) group.run([&, i] { parts[i] = skynet(number + i * width, depth - 1); });
    group.wait();
    std::uint64_t sum = 0;
    for (auto part : parts) sum += part;
    return sum;
}

unsigned nqueens(fork_join::board at) {
    if (at.is_full()) return 1;
    unsigned parts[fork_join::queens] = {};
    oneapi::tbb::task_group group;
    for (unsigned column = 0; column < fork_join::queens; ++column) {
        if (at.is_free(column)) group.run([&, column] { parts[column] = nqueens(at.with(column)); });
    }
    group.wait();
    unsigned sum = 0;
    for (auto part : parts) sum += part;
    return sum;
}

template <class Work>
bench::sample in_milliseconds(bench::budget b, Work work) {
    oneapi::tbb::task_arena arena(2);
    auto s = bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) arena.execute(work);
    });
    s.value /= 1e6;
    return s;
}

} // namespace

BENCH_PEER("jobs/spawn_join_1t", "oneTBB task_group") { return spawn_join(b, 1); }
BENCH_PEER("jobs/spawn_join_2t", "oneTBB task_group") { return spawn_join(b, 2); }
BENCH_PEER("jobs/create", "oneTBB task_group") { return create(b); }
BENCH_PEER("jobs/create_join", "oneTBB task_group") { return create_join(b); }
BENCH_PEER("jobs/concurrent_1", "oneTBB task_group") { return concurrent(b, 1); }
BENCH_PEER("jobs/concurrent_2", "oneTBB task_group") { return concurrent(b, 2); }
BENCH_PEER("jobs/concurrent_4", "oneTBB task_group") { return concurrent(b, 4); }
BENCH_PEER("jobs/concurrent_8", "oneTBB task_group") { return concurrent(b, 8); }
BENCH_PEER("jobs/concurrent_16", "oneTBB task_group") { return concurrent(b, 16); }
BENCH_PEER("jobs/concurrent_32", "oneTBB task_group") { return concurrent(b, 32); }
BENCH_PEER("jobs/concurrent_64", "oneTBB task_group") { return concurrent(b, 64); }
BENCH_PEER("jobs/handles_64", "oneTBB task_group") { return concurrent(b, 64); }
BENCH_PEER("jobs/fib_2t", "oneTBB task_group") {
    return in_milliseconds(b, [] { fork_join::expect(fib(fork_join::fib_of), fork_join::fib_is); });
}
BENCH_PEER("jobs/skynet_2t", "oneTBB task_group") {
    return in_milliseconds(b, [] { fork_join::expect(skynet(0, fork_join::skynet_depth), fork_join::skynet_is); });
}
BENCH_PEER("jobs/nqueens_2t", "oneTBB task_group") {
    return in_milliseconds(b, [] { fork_join::expect(nqueens({}), fork_join::nqueens_is); });
}
