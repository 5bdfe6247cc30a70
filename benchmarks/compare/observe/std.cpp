// The usual way by hand: one atomic number, and a histogram of Prometheus' bounds under a mutex.
#include "../../harness/harness.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace {

class histogram {
public:
    void record(double value) {
        auto const at = static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
        std::lock_guard const hold(lock_);
        ++counts_[at];
        sum_ += value;
    }

private:
    static constexpr std::array<double, 19> bounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                   0.25,   0.5,     1,      2.5,   5,      10,    25,   50,    100};
    std::mutex lock_;
    std::array<std::uint64_t, 20> counts_{};
    double sum_ = 0;
};

std::atomic<std::uint64_t> total{0};
histogram times;

void add(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        total.fetch_add(1, std::memory_order_relaxed);
        bench::clobber();
    }
}
void record(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        times.record(static_cast<double>(1000 + i * 7919 % 1'000'000) * 1e-9);
        bench::clobber();
    }
}

}  // namespace

BENCH_PEER("observe/counter_add", "std::atomic") { return bench::per_op(b, add); }
BENCH_PEER("observe/counter_add_2t", "std::atomic") {
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) { add(n); });
}
BENCH_PEER("observe/histogram_record", "std::mutex histogram") { return bench::per_op(b, record); }
BENCH_PEER("observe/histogram_record_2t", "std::mutex histogram") {
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) { record(n); });
}
