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
