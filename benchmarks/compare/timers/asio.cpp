// Boost.Asio 1.81: steady_timer armed an hour ahead and cancelled, with none or 10 000 others pending.
#include "../../harness/harness.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>

namespace asio = boost::asio;

namespace {
bench::sample arm_cancel(bench::budget b, int pending) {
    asio::io_context context(1);
    std::deque<asio::steady_timer> others;
    for (int i = 0; i < pending; ++i) {
        others.emplace_back(context, std::chrono::hours(1) + std::chrono::milliseconds(i));
        others.back().async_wait([](boost::system::error_code) {});
    }
    asio::steady_timer timer(context);
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            timer.expires_after(std::chrono::hours(1));
            timer.async_wait([](boost::system::error_code) {});
            timer.cancel();
            context.poll();
        }
    });
}
} // namespace

BENCH_PEER("runtime/timer_arm_cancel", "Asio steady_timer") { return arm_cancel(b, 0); }
BENCH_PEER("runtime/timer_arm_cancel_10k", "Asio steady_timer") { return arm_cancel(b, 10'000); }
BENCH_PEER("scale/timers_1k", "Asio steady_timer") { return arm_cancel(b, 1'000); }
BENCH_PEER("scale/timers_100k", "Asio steady_timer") { return arm_cancel(b, 100'000); }
BENCH_PEER("scale/timers_1m", "Asio steady_timer") { return arm_cancel(b, 1'000'000); }
