#include "../../harness/harness.hpp"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace {

prometheus::Registry registry;
prometheus::Counter& total = prometheus::BuildCounter().Name("done_total").Help("Done.").Register(registry).Add({});
prometheus::Histogram& times =
    prometheus::BuildHistogram()
        .Name("took_seconds")
        .Help("Time.")
        .Register(registry)
        .Add({}, prometheus::Histogram::BucketBoundaries{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                         0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100});

void add(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        total.Increment();
        bench::clobber();
    }
}
void record(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        times.Observe(static_cast<double>(1000 + i * 7919 % 1'000'000) * 1e-9);
        bench::clobber();
    }
}

}  // namespace

BENCH_PEER("observe/counter_add", "prometheus-cpp") { return bench::per_op(b, add); }
BENCH_PEER("observe/counter_add_2t", "prometheus-cpp") {
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) { add(n); });
}
BENCH_PEER("observe/histogram_record", "prometheus-cpp") { return bench::per_op(b, record); }
BENCH_PEER("observe/histogram_record_2t", "prometheus-cpp") {
    return bench::per_op_threads(b, 2, [](unsigned, std::uint64_t n) { record(n); });
}
