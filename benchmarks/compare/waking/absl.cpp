// Abseil: OS threads only. CondVar is its notify, Mutex::Await (a condition, no notify call) its best ping-pong.
#include "../../harness/harness.hpp"

#include <absl/synchronization/mutex.h>

BENCH_PEER("sync/notify_nobody", "absl::CondVar") {
    absl::CondVar cv;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) cv.Signal();
    });
}

BENCH_PEER("sync/thread_ping_pong", "absl::Mutex::Await") {
    static absl::Mutex lock;
    static unsigned turn = 0;
    return bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        bool (*mine)(unsigned*) = me == 0 ? [](unsigned* t) { return *t == 0; } : [](unsigned* t) { return *t == 1; };
        for (std::uint64_t i = 0; i < n; ++i) {
            lock.LockWhen(absl::Condition(mine, &turn));
            turn = 1 - me;
            lock.Unlock();
        }
    });
}
