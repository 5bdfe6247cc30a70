// What the flight recorder costs: one record, and the rows jobs/http and jobs/create_join while it is on.
#include "../harness/harness.hpp"
#include "../harness/request_rows.hpp"

#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/observe/recorder.hpp>

using roost::observe::recorder;
using namespace rows;

namespace {

bench::sample record(bench::budget b) {
    using namespace roost::detail;
    return bench::per_op(b, [](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            if (flight_recorder::now() != 0) {
                flight_recorder::write(event_kind::timer_fired, &n, i, 0);
            }
        }
    });
}

task<int> one() { co_return 1; }
task<> create_join_in(scope& s, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto child = s.async("child", one());
        bench::keep(co_await std::move(child));
    }
}
task<> create_join(std::uint64_t n) { co_await roost::with_scope(create_join_in, n); }

} // namespace

BENCH_OURS("observe/record_off") { return record(b); }
BENCH_OURS("observe/record") {
    recorder::start();
    return record(b);
}
BENCH_OURS("observe/recorded_create_join") {
    recorder::start();
    return run_on(b, 1, 1, create_join);
}
BENCH_OURS("observe/recorded_http_1") {
    recorder::start();
    return requests(b, 1);
}
BENCH_OURS("observe/recorded_http_100") {
    recorder::start();
    return requests(b, 100);
}
BENCH_OURS("observe/recorded_http_1000") {
    recorder::start();
    return requests(b, 1000);
}
BENCH_OURS("observe/recorded_http_1000_2t") {
    recorder::start();
    return requests(b, 1000, 2);
}
