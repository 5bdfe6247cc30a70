#include "../../harness/harness.hpp"

#include <absl/synchronization/mutex.h>

BENCH_PEER("sync/mutex_1t", "absl::Mutex") {
    absl::Mutex lock;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            lock.Lock();
            bench::clobber();
            lock.Unlock();
        }
    });
}

BENCH_PEER("sync/mutex_2t", "absl::Mutex") {
    static absl::Mutex lock;
    static std::uint64_t counter = 0;
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            absl::MutexLock hold(&lock);
            ++counter;
            bench::clobber();
        }
    });
}
