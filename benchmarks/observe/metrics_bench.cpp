#include "../harness/harness.hpp"

#include <roost/observe/metrics.hpp>

namespace {

using namespace roost;

bench::sample counted(bench::budget b) {
    metrics::counter const done("bench_done_total", "Done.");
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            done.add();
            bench::clobber();
        }
    });
}

bench::sample recorded(bench::budget b) {
    metrics::histogram const took("bench_took_seconds", "Time.");
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            took.record(duration(1000 + static_cast<std::int64_t>(i * 7919 % 1'000'000)));
            bench::clobber();
        }
    });
}

}  // namespace

BENCH_OURS("observe/counter_add") { return counted(b); }
BENCH_OURS("observe/counter_add_2t") {
    metrics::counter const done("bench_done_total", "Done.");
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            done.add();
            bench::clobber();
        }
    });
}
BENCH_OURS("observe/histogram_record") { return recorded(b); }
BENCH_OURS("observe/histogram_record_2t") {
    metrics::histogram const took("bench_took_seconds", "Time.");
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            took.record(duration(1000 + static_cast<std::int64_t>(i * 7919 % 1'000'000)));
            bench::clobber();
        }
    });
}
