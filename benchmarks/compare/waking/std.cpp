// The C++ standard library: OS threads only, so it has no row for waking a coroutine.
#include "../../harness/harness.hpp"

#include <condition_variable>
#include <mutex>

BENCH_PEER("sync/notify_nobody", "std::condition_variable") {
    std::condition_variable cv;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) cv.notify_one();
    });
}

BENCH_PEER("sync/notify_nobody", "std::atomic::notify_one") {
    std::atomic<int> word{0};
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            word.notify_one();
            bench::clobber();
        }
    });
}

// Two threads hand a turn to each other; per hop.
BENCH_PEER("sync/thread_ping_pong", "std::condition_variable") {
    static std::mutex lock;
    static std::condition_variable cv[2];
    static unsigned turn = 0;
    return bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            {
                std::unique_lock hold(lock);
                cv[me].wait(hold, [&] { return turn == me; });
                turn = 1 - me;
            }
            cv[1 - me].notify_one();
        }
    });
}

BENCH_PEER("sync/thread_ping_pong", "std::atomic::wait") {
    static std::atomic<unsigned> turn{0};
    return bench::per_op_threads(b, 2, [](unsigned me, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            turn.wait(1 - me);
            turn.store(1 - me);
            turn.notify_one();
        }
    });
}
