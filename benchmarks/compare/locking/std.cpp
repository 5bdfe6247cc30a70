#include "../../harness/harness.hpp"

#include <mutex>
#include <semaphore>

namespace {
template <class Lock>
bench::sample alone(bench::budget b, Lock& lock) {
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            lock.lock();
            bench::clobber();
            lock.unlock();
        }
    });
}

struct semaphore_as_lock {
    std::counting_semaphore<1024> permits{1};
    void lock() { permits.acquire(); }
    void unlock() { permits.release(); }
};

template <class Lock>
bench::sample contended(bench::budget b, Lock& lock) {
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            lock.lock();
            ++counter;
            bench::clobber();
            lock.unlock();
        }
    });
}
} // namespace

BENCH_PEER("sync/mutex_1t", "std::mutex") {
    std::mutex lock;
    return alone(b, lock);
}

BENCH_PEER("sync/mutex_2t", "std::mutex") {
    static std::mutex lock;
    return contended(b, lock);
}

BENCH_PEER("sync/semaphore_1t", "std::counting_semaphore") {
    semaphore_as_lock lock;
    return alone(b, lock);
}

BENCH_PEER("sync/semaphore_2t", "std::counting_semaphore") {
    static semaphore_as_lock lock;
    return contended(b, lock);
}
