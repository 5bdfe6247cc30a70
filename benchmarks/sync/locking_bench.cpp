#include "../harness/harness.hpp"
#include "../harness/lazy.hpp"

#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>

namespace {

bench::lazy lock_repeatedly(roost::mutex& lock, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const held = co_await lock.lock();
        bench::clobber();
    }
}

bench::lazy acquire_repeatedly(roost::semaphore& permits, std::uint32_t count, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const held = co_await permits.acquire(count);
        bench::clobber();
    }
}

} // namespace

BENCH_OURS("sync/mutex_1t") {
    roost::mutex lock;
    return bench::per_op(b, [&](std::uint64_t n) { lock_repeatedly(lock, n).start(); });
}

BENCH_OURS("sync/mutex_2t") {
    static roost::mutex lock;
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const held = lock.lock_blocking();
            ++counter;
            bench::clobber();
        }
    });
}

BENCH_OURS("sync/mutex_2t_barging") {
    static roost::mutex lock("", roost::fairness::barging);
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const held = lock.lock_blocking();
            ++counter;
            bench::clobber();
        }
    });
}

BENCH_OURS("sync/semaphore_1t") {
    roost::semaphore permits(1);
    return bench::per_op(b, [&](std::uint64_t n) { acquire_repeatedly(permits, 1, n).start(); });
}

BENCH_OURS("sync/semaphore_100_of_1000") {
    roost::semaphore permits(1000);
    return bench::per_op(b, [&](std::uint64_t n) { acquire_repeatedly(permits, 100, n).start(); });
}

BENCH_OURS("sync/semaphore_2t") {
    static roost::semaphore permits(1);
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const held = permits.acquire_blocking();
            ++counter;
            bench::clobber();
        }
    });
}

BENCH_OURS("sync/semaphore_2t_barging") {
    static roost::semaphore permits(1, "", roost::fairness::barging);
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const held = permits.acquire_blocking();
            ++counter;
            bench::clobber();
        }
    });
}
