#include "../harness/harness.hpp"
#include "../harness/roost_coroutine.hpp"

#include <roost/pool/pool.hpp>

namespace {

using numbers = roost::pool<std::uint64_t>;

numbers make(std::uint32_t count) {
    return numbers(roost::pool_options(count, "numbers"), [] { return std::uint64_t{1}; });
}

bench::queued borrow_repeatedly(bench::run_queue&, numbers& pool, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await pool.acquire();
        bench::keep(&got);
    }
}

bench::sample cycle(bench::budget b, std::uint32_t resources) {
    auto pool = make(resources);
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const got = pool.acquire_blocking();
            bench::keep(&got);
        }
    });
}

} // namespace

BENCH_OURS("pool/cycle_1t_4") {
    auto pool = make(4);
    bench::run_queue ready;
    return bench::per_op(b, [&](std::uint64_t n) {
        auto const all = borrow_repeatedly(ready, pool, n);
        all.start();
        ready.drain();
        if (!all.done()) std::abort();
    });
}

BENCH_OURS("pool/cycle_2t_4") { return cycle(b, 4); }
BENCH_OURS("pool/cycle_2t_2") { return cycle(b, 2); }
BENCH_OURS("pool/cycle_2t_1") { return cycle(b, 1); }

// Two coroutines and one resource: every acquire but the first waits and is handed the resource by the other's return.
namespace {

class yield : roost::work {
public:
    explicit yield(bench::run_queue& on) noexcept
        : work(+[](work& w) noexcept { static_cast<yield&>(w).frame_.resume(); }), on_(on) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
        frame_ = h;
        on_.post(*this);
    }
    void await_resume() const noexcept {}

private:
    bench::run_queue& on_;
    std::coroutine_handle<> frame_;
};

bench::queued take_turns(bench::run_queue& ready, numbers& pool, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await pool.acquire();
        bench::keep(&got);
        co_await yield(ready);
    }
}

} // namespace

BENCH_OURS("pool/handoff_tasks") {
    auto pool = make(1);
    bench::run_queue ready;
    return bench::per_op(b, [&](std::uint64_t n) {
        auto const one = take_turns(ready, pool, n / 2 + 1);
        auto const other = take_turns(ready, pool, n / 2 + 1);
        one.start();
        other.start();
        ready.drain();
        if (!one.done() || !other.done()) std::abort();
    });
}

// The pool is empty; an acquire queues up and is cancelled.
BENCH_OURS("pool/cancel_waiting") {
    auto pool = make(1);
    auto const held = pool.acquire_blocking();
    bench::run_queue ready;
    auto const parked = borrow_repeatedly(ready, pool, 0);   // a frame that is never resumed
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto op = pool.acquire();
            if (op.await_ready() || !op.await_suspend(parked.handle()) || !op.try_cancel()) std::abort();
        }
    });
}
