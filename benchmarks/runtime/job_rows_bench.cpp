// One job at a time, and the parts of its life: making it, awaiting one that has ended, two that race.
#include "../harness/harness.hpp"

#include <roost/flow/race.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include <vector>

using roost::scope;
using roost::task;

namespace {

constexpr std::uint64_t batch_size = 500;

task<int> one() { co_return 1; }

double ns_of(bench::clock::time_point start) { return bench::ns_since(start); }

// Only the launching is timed; the children run, and end, between the batches.
task<> create_in(scope& s, std::uint64_t n, double& took) {
    const auto start = bench::clock::now();
    for (std::uint64_t i = 0; i < n; ++i) {
        s.launch("child", one());
    }
    took += ns_of(start);
    co_return;
}
task<double> create(std::uint64_t n) {
    double took = 0;
    for (std::uint64_t left = n; left > 0;) {
        const std::uint64_t now = left < batch_size ? left : batch_size;
        left -= now;
        co_await roost::with_scope(create_in, now, std::ref(took));
    }
    co_return took;
}

task<> create_join_in(scope& s, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto child = s.async("child", one());
        bench::keep(co_await std::move(child));
    }
}
task<> create_join(std::uint64_t n) { co_await roost::with_scope(create_join_in, n); }

// Only the awaiting is timed: the children have ended.
task<> await_ended_in(scope& s, std::uint64_t n, double& took) {
    std::vector<roost::deferred<int>> children;
    children.reserve(batch_size);
    for (std::uint64_t left = n; left > 0;) {
        const std::uint64_t now = left < batch_size ? left : batch_size;
        left -= now;
        for (std::uint64_t i = 0; i < now; ++i) {
            children.push_back(s.async("child", one()));
        }
        for (auto& child : children) {
            co_await child.join();
        }
        int sum = 0;
        const auto start = bench::clock::now();
        for (auto& child : children) {
            sum += co_await std::move(child);
        }
        took += ns_of(start);
        bench::keep(sum);
        children.clear();
    }
}
task<double> await_ended(std::uint64_t n) {
    double took = 0;
    co_await roost::with_scope(await_ended_in, n, std::ref(took));
    co_return took;
}

task<> race_two(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto first = co_await roost::race(one(), one());
        bench::keep(first.value());
    }
}

} // namespace

BENCH_OURS("jobs/create") {
    roost::runtime threads(roost::runtime_options().workers(1));
    return bench::measure(b, [&](std::uint64_t n) { return roost::block_on(threads, create(n)); });
}
BENCH_OURS("jobs/create_join") {
    roost::runtime threads(roost::runtime_options().workers(1));
    return bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, create_join(n)); });
}
BENCH_OURS("jobs/await_ended") {
    roost::runtime threads(roost::runtime_options().workers(1));
    return bench::measure(b, [&](std::uint64_t n) { return roost::block_on(threads, await_ended(n)); });
}
BENCH_OURS("jobs/race_two") {
    roost::runtime threads(roost::runtime_options().workers(1));
    return bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, race_two(n)); });
}
