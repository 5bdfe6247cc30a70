// Tasks, jobs and scopes on the runtime: what a service writes.
#include "../compare/tasks/fork_join.hpp"
#include "../harness/harness.hpp"

#include <roost/flow/when_all.hpp>
#include <roost/observe/built_in.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/task.hpp>
#include <roost/task/this_task.hpp>

#include <malloc.h>
#include <time.h>

using roost::scope;
using roost::task;

namespace {

task<> nothing() { co_return; }

task<> await_children(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await nothing();
    }
}

task<> await_event(roost::event& ready, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await ready.wait();
    }
}

// Two tasks wake each other in turn; every await suspends.
task<> take_turns(roost::auto_reset_event& mine, roost::auto_reset_event& other, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await mine.wait();
        other.set();
    }
}

task<> two_in_turn(scope& s, roost::auto_reset_event* turn, std::uint64_t n) {
    s.launch("one", take_turns(turn[0], turn[1], n / 2 + 1));
    s.launch("other", take_turns(turn[1], turn[0], n / 2 + 1));
    turn[0].set();
    co_return;
}

task<> await_suspended(std::uint64_t n) {
    roost::auto_reset_event turn[2];
    co_await roost::with_scope(two_in_turn, turn, n);
}

task<> start_thousand(scope& s) {
    for (int i = 0; i < 1000; ++i) {
        s.launch("child", nothing());
    }
    co_return;
}

task<> spawn_and_join(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await roost::with_scope(start_thousand);
    }
}

task<> yield_repeatedly(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await roost::yield();
    }
}

task<> sleep_long() { co_await roost::sleep_for(std::chrono::hours(1)); }

task<> start_sleepers(scope& s, int count) {
    for (int i = 0; i < count; ++i) {
        s.launch("sleeper", sleep_long());
    }
    co_return;
}

task<> sleepers(int count) { co_await roost::with_scope(start_sleepers, count); }

task<> cancel_and_join(scope& s, int count, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto parent = s.launch("parent", sleepers(count));
        co_await roost::yield();
        co_await roost::yield();
        parent.cancel();
        co_await parent.join();
    }
}

task<> cancel_sleepers(int count, std::uint64_t n) { co_await roost::with_scope(cancel_and_join, count, n); }

task<std::uint64_t> fib(unsigned n) {
    if (n < 2) {
        co_return n;
    }
    auto [left, right] = co_await roost::when_all(fib(n - 1), fib(n - 2));
    co_return left + right;
}

task<std::uint64_t> skynet(std::uint64_t number, unsigned depth) {
    if (depth == 0) {
        co_return number;
    }
    std::uint64_t width = 1;
    for (unsigned i = 1; i < depth; ++i) width *= 10;
    std::vector<task<std::uint64_t>> parts;
    parts.reserve(10);
    for (std::uint64_t i = 0; i < 10; ++i) parts.push_back(skynet(number + i * width, depth - 1));
    std::uint64_t sum = 0;
    auto const sums = co_await roost::when_all(std::move(parts));
    for (auto const part : sums) sum += part;
    co_return sum;
}

task<unsigned> nqueens(fork_join::board at) {
    if (at.is_full()) {
        co_return 1;
    }
    std::vector<task<unsigned>> parts;
    parts.reserve(fork_join::queens);
    for (unsigned column = 0; column < fork_join::queens; ++column) {
        if (at.is_free(column)) parts.push_back(nqueens(at.with(column)));
    }
    unsigned sum = 0;
    auto const sums = co_await roost::when_all(std::move(parts));
    for (auto const part : sums) sum += part;
    co_return sum;
}

class on_runtime {
public:
    explicit on_runtime(unsigned workers) : runtime_(roost::runtime_options().workers(workers)) {}
    template <class T>
    T run(task<T> t) {
        return roost::block_on(runtime_, std::move(t));
    }

private:
    roost::runtime runtime_;
};

bench::sample spawn_join(bench::budget b, unsigned workers) {
    on_runtime threads(workers);
    auto const s = bench::per_op(b, [&](std::uint64_t n) { threads.run(spawn_and_join(n)); });
    return {s.value / 1000, s.ops * 1000};
}

bench::sample yields(bench::budget b, unsigned workers) {
    on_runtime threads(workers);
    return bench::per_op(b, [&](std::uint64_t n) { threads.run(yield_repeatedly(n)); });
}

bench::sample cancelled_sleepers(bench::budget b, int count) {
    on_runtime threads(1);
    return bench::per_op(b, [&](std::uint64_t n) { threads.run(cancel_sleepers(count, n)); });
}

template <class Make>
bench::sample in_milliseconds(bench::budget b, Make make, std::uint64_t want) {
    on_runtime threads(2);
    auto s = bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) fork_join::expect(threads.run(make()), want);
    });
    s.value /= 1e6;
    return s;
}

double heap_in_use() {
    auto const m = mallinfo2();
    return static_cast<double>(m.uordblks + m.hblkhd);
}

task<> wait_on(roost::event& e) { co_await e.wait(); }

constexpr int suspended = 20'000;

task<> start_waiters(scope& s, roost::event* e, double* bytes) {
    double const before = heap_in_use();
    for (int i = 0; i < suspended; ++i) {
        s.launch("waiter", wait_on(*e));
    }
    co_await roost::yield();
    co_await roost::yield();
    while (e->waiters_now() < suspended) {
        co_await roost::yield();
    }
    *bytes = (heap_in_use() - before) / suspended;
    e->set();
}

// Start and join one job while `live` others are suspended.
task<> start_among(scope& s, roost::event* open, int live, bench::budget b, bench::sample* result) {
    for (int i = 0; i < live; ++i) {
        s.launch("waiter", wait_on(*open));
    }
    while (open->waiters_now() < static_cast<std::size_t>(live)) {
        co_await roost::yield();
    }
    std::vector<double> per_job;
    auto const begin = bench::clock::now();
    while (per_job.size() < 5 || bench::ns_since(begin) < b.ms * 1e6) {
        auto const start = bench::clock::now();
        for (int i = 0; i < 500; ++i) {
            auto one = s.async("one", nothing());
            co_await std::move(one);
        }
        per_job.push_back(bench::ns_since(start) / 500);
        result->ops += 500;
    }
    std::sort(per_job.begin(), per_job.end());
    result->value = per_job[per_job.size() / 5];
    open->set();
}

task<> among(int live, bench::budget b, bench::sample* result) {
    roost::event open;
    co_await roost::with_scope(start_among, &open, live, b, result);
}

bench::sample spawn_among(bench::budget b, int live) {
    on_runtime threads(1);
    bench::sample result;
    threads.run(among(live, b, &result));
    return result;
}

// What a runtime with nothing to do costs, in microseconds of CPU time per second.
double process_cpu_us() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

task<> count_bytes(double* bytes) {
    roost::event e;
    co_await roost::with_scope(start_waiters, &e, bytes);
}

} // namespace

BENCH_OURS("task/await_child") {
    on_runtime threads(1);
    return bench::per_op(b, [&](std::uint64_t n) { threads.run(await_children(n)); });
}

BENCH_OURS("task/await_ready") {
    on_runtime threads(1);
    roost::event ready;
    ready.set();
    return bench::per_op(b, [&](std::uint64_t n) { threads.run(await_event(ready, n)); });
}

BENCH_OURS("task/await_suspended") {
    on_runtime threads(1);
    return bench::per_op(b, [&](std::uint64_t n) { threads.run(await_suspended(n)); });
}

BENCH_OURS("jobs/spawn_join_1t") { return spawn_join(b, 1); }
BENCH_OURS("jobs/spawn_join_2t") { return spawn_join(b, 2); }
BENCH_OURS("observe/spawn_join_off") { return spawn_join(b, 1); }
BENCH_OURS("observe/spawn_join_counters") {
    roost::metrics::enable();
    return spawn_join(b, 1);
}
BENCH_OURS("runtime/yield_1t") { return yields(b, 1); }
BENCH_OURS("runtime/yield_2t") { return yields(b, 2); }
BENCH_OURS("jobs/cancel_sleepers_1") { return cancelled_sleepers(b, 1); }
BENCH_OURS("jobs/cancel_sleepers_8") { return cancelled_sleepers(b, 8); }
BENCH_OURS("jobs/cancel_sleepers_32") { return cancelled_sleepers(b, 32); }
BENCH_OURS("jobs/fib_2t") {
    return in_milliseconds(b, [] { return fib(fork_join::fib_of); }, fork_join::fib_is);
}
BENCH_OURS("jobs/skynet_2t") {
    return in_milliseconds(b, [] { return skynet(0, fork_join::skynet_depth); }, fork_join::skynet_is);
}
BENCH_OURS("jobs/nqueens_2t") {
    return in_milliseconds(b, [] { return nqueens({}); }, fork_join::nqueens_is);
}
BENCH_OURS("scale/bytes_per_job") {
    on_runtime threads(1);
    double bytes = 0;
    threads.run(count_bytes(&bytes));
    return {bytes, suspended};
}
BENCH_OURS("scale/jobs_1k") { return spawn_among(b, 1'000); }
BENCH_OURS("scale/jobs_100k") { return spawn_among(b, 100'000); }
BENCH_OURS("scale/jobs_1m") { return spawn_among(b, 1'000'000); }
BENCH_OURS("runtime/idle_cpu") {
    on_runtime threads(2);
    threads.run(nothing());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));   // it takes some milliseconds to fall asleep
    double const before = process_cpu_us();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return {process_cpu_us() - before, 1};
}
