// A vector under a mutex with a condition variable: the pool everybody writes. No health, lifetime, fairness or cancellation.
#include "../../harness/harness.hpp"

#include <condition_variable>
#include <mutex>

namespace {

class plain_pool {
public:
    explicit plain_pool(int count) {
        for (int i = 0; i < count; ++i) idle_.push_back(i);
    }
    int acquire() {
        std::unique_lock hold(lock_);
        while (idle_.empty()) {
            ++waiting_;
            back_.wait(hold);
            --waiting_;
        }
        int const r = idle_.back();
        idle_.pop_back();
        return r;
    }
    void release(int r) {
        bool somebody = false;
        {
            std::lock_guard hold(lock_);
            idle_.push_back(r);
            somebody = waiting_ != 0;
        }
        if (somebody) back_.notify_one();
    }

private:
    std::mutex lock_;
    std::condition_variable back_;
    std::vector<int> idle_;
    int waiting_ = 0;
};

bench::sample cycle(bench::budget b, unsigned threads, int resources) {
    plain_pool pool(resources);
    return bench::per_op_threads(b, threads, [&](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            int const r = pool.acquire();
            bench::keep(r);
            pool.release(r);
        }
    });
}

}  // namespace

BENCH_PEER("pool/cycle_1t_4", "std mutex + condvar + vector") { return cycle(b, 1, 4); }
BENCH_PEER("pool/cycle_2t_4", "std mutex + condvar + vector") { return cycle(b, 2, 4); }
BENCH_PEER("pool/cycle_2t_2", "std mutex + condvar + vector") { return cycle(b, 2, 2); }
BENCH_PEER("pool/cycle_2t_1", "std mutex + condvar + vector") { return cycle(b, 2, 1); }
