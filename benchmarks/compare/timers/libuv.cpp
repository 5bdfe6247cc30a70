// libuv 1.44: uv_timer_start an hour ahead and uv_timer_stop, with none or many others pending. The loop's own time is used, which
// is read once per turn of the loop.
#include "../../harness/harness.hpp"

#include <uv.h>

#include <deque>

namespace {
constexpr std::uint64_t hour = 3'600'000;

bench::sample arm_cancel(bench::budget b, int pending) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    std::deque<uv_timer_t> others;
    for (int i = 0; i < pending; ++i) {
        uv_timer_init(&loop, &others.emplace_back());
        uv_timer_start(&others.back(), [](uv_timer_t*) {}, hour + static_cast<std::uint64_t>(i), 0);
    }
    uv_timer_t timer;
    uv_timer_init(&loop, &timer);
    auto const measured = bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            uv_timer_start(&timer, [](uv_timer_t*) {}, hour, 0);
            uv_timer_stop(&timer);
        }
    });
    uv_walk(&loop, [](uv_handle_t* h, void*) { uv_close(h, nullptr); }, nullptr);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return measured;
}
}  // namespace

BENCH_PEER("runtime/timer_arm_cancel", "libuv timer") { return arm_cancel(b, 0); }
BENCH_PEER("runtime/timer_arm_cancel_10k", "libuv timer") { return arm_cancel(b, 10'000); }
BENCH_PEER("scale/timers_1k", "libuv timer") { return arm_cancel(b, 1'000); }
BENCH_PEER("scale/timers_100k", "libuv timer") { return arm_cancel(b, 100'000); }
BENCH_PEER("scale/timers_1m", "libuv timer") { return arm_cancel(b, 1'000'000); }
