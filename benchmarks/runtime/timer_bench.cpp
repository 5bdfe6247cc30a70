#include "../harness/harness.hpp"

#include <roost/runtime/loop.hpp>

#include <deque>

namespace {

bench::sample arm_cancel(bench::budget b, int pending) {
    roost::loop loop;
    roost::ext::timer_service& timers = *loop.timers();
    auto const ignore = +[](roost::ext::timer&) noexcept {};
    std::deque<roost::ext::timer> others;
    for (int i = 0; i < pending; ++i) {
        auto& t = others.emplace_back(ignore);
        t.set_deadline(timers.now() + std::chrono::hours(1) + std::chrono::milliseconds(i));
        timers.arm(t);
    }
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        roost::ext::timer mine(ignore);
        for (std::uint64_t i = 0; i < n; ++i) {
            mine.set_deadline(timers.now() + std::chrono::hours(1));
            timers.arm(mine);
            timers.disarm(mine);
        }
    });
    for (auto& t : others) timers.disarm(t);
    return s;
}

} // namespace

BENCH_OURS("runtime/timer_arm_cancel") { return arm_cancel(b, 0); }
BENCH_OURS("runtime/timer_arm_cancel_10k") { return arm_cancel(b, 10'000); }
BENCH_OURS("scale/timers_1k") { return arm_cancel(b, 1'000); }
BENCH_OURS("scale/timers_100k") { return arm_cancel(b, 100'000); }
BENCH_OURS("scale/timers_1m") { return arm_cancel(b, 1'000'000); }
