// Threads use the blocking form; one thread is a runtime of one worker, and who borrows is a task.
#include "../harness/harness.hpp"

#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>
#include <roost/task/this_task.hpp>

using roost::scope;
using roost::task;

namespace {

using numbers = roost::pool<std::uint64_t>;

std::uint64_t one() { return 1; }

numbers make(std::uint32_t count, std::uint32_t stripes = 0) {
    roost::pool_options options(count, "numbers");
    options.stripes = stripes;
    return numbers(options, one);
}

template <class Body>
bench::sample on_one_worker(bench::budget b, Body body) {
    roost::runtime threads(roost::runtime_options().workers(1));
    return bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, body(n)); });
}

task<> borrow_repeatedly(numbers& pool, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await pool.acquire();
        bench::keep(&got);
    }
}

bench::sample cycle(bench::budget b, std::uint32_t resources, std::uint32_t stripes = 0) {
    auto pool = make(resources, stripes);
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const got = pool.acquire_blocking();
            bench::keep(&got);
        }
    });
}

// Every resource is destroyed after one use, so that every acquire creates one.
task<> churn(numbers& pool, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto got = co_await pool.acquire();
        got.handle().discard();
    }
}

// Two tasks and one resource: every acquire but the first waits and is handed the resource by the other's return.
task<> hold_repeatedly(numbers& pool, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await pool.acquire();
        bench::keep(&got);
        co_await roost::yield();
    }
}

task<> both(scope& s, numbers* pool, std::uint64_t n) {
    s.launch("one", hold_repeatedly(*pool, n / 2 + 1));
    s.launch("other", hold_repeatedly(*pool, n / 2 + 1));
    co_return;
}

task<> take_turns(numbers& pool, std::uint64_t n) { co_await roost::with_scope(both, &pool, n); }

// The pool is empty; a job waits in its queue and is cancelled.
task<> borrow(numbers& pool) {
    auto const got = co_await pool.acquire();
    bench::keep(&got);
}

task<> cancel_each(scope& s, numbers* pool, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto waiting = s.launch("waiting", borrow(*pool), roost::start::immediate);
        waiting.cancel();
        co_await waiting.join();
    }
}

task<> cancel_waiting(numbers& pool, std::uint64_t n) { co_await roost::with_scope(cancel_each, &pool, n); }

} // namespace

BENCH_OURS("pool/cycle_1t_4") {
    auto pool = make(4);
    return on_one_worker(b, [&](std::uint64_t n) { return borrow_repeatedly(pool, n); });
}

BENCH_OURS("pool/cycle_2t_4") { return cycle(b, 4); }
BENCH_OURS("pool/cycle_2t_4_one_stripe") { return cycle(b, 4, 1); }
BENCH_OURS("pool/cycle_2t_2") { return cycle(b, 2); }
BENCH_OURS("pool/cycle_2t_1") { return cycle(b, 1); }

// Every resource is asked whether it is still good before it is given out.
BENCH_OURS("pool/checked_1t_4") {
    auto const destroy = [](std::uint64_t&) noexcept {};
    numbers pool(roost::pool_options(4, "numbers"), one, destroy, [](std::uint64_t& r) { return r != 0; });
    return on_one_worker(b, [&](std::uint64_t n) { return borrow_repeatedly(pool, n); });
}

BENCH_OURS("pool/churn") {
    auto pool = make(4);
    return on_one_worker(b, [&](std::uint64_t n) { return churn(pool, n); });
}

BENCH_OURS("pool/handoff_tasks") {
    auto pool = make(1);
    return on_one_worker(b, [&](std::uint64_t n) { return take_turns(pool, n); });
}

BENCH_OURS("pool/cancel_waiting") {
    auto pool = make(1);
    auto const held = pool.acquire_blocking();
    return on_one_worker(b, [&](std::uint64_t n) { return cancel_waiting(pool, n); });
}
