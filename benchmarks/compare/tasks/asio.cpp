// Boost.Asio 1.81: co_spawn for children, awaitable for a child that is awaited, post for a reschedule.
#include "../../harness/asio_crew.hpp"
#include "../../harness/harness.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <malloc.h>

#include <list>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> nothing() { co_return; }

asio::awaitable<void> await_children(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) co_await nothing();
}

asio::awaitable<void> count(std::atomic<std::uint64_t>& ended) {
    ended.fetch_add(1, std::memory_order_relaxed);
    co_return;
}

// A thousand children per round; the round ends when the context has nothing left to do.
bench::sample spawn_join_1t(bench::budget b) {
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        asio::io_context context(1);
        std::atomic<std::uint64_t> ended{0};
        for (std::uint64_t round = 0; round < n; ++round) {
            for (int i = 0; i < 1000; ++i) asio::co_spawn(context, count(ended), asio::detached);
            context.run();
            context.restart();
        }
    });
    return {s.value / 1000, s.ops * 1000};
}

// The same on threads that are kept, started from one of them; the last child wakes its parent.
asio::awaitable<void> spawn_and_join(bench::asio_join& all, std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    for (std::uint64_t round = 0; round < n; ++round) {
        all.expect(1000);
        for (int i = 0; i < 1000; ++i) asio::co_spawn(where, nothing(), all.one());
        co_await all.wait();
    }
}

bench::sample spawn_join_2t(bench::budget b) {
    bench::asio_crew threads(2);
    auto const s = bench::per_op(b, [&](std::uint64_t n) { threads.run(spawn_and_join(threads.join(), n)); });
    return {s.value / 1000, s.ops * 1000};
}

asio::awaitable<void> yield_repeatedly(std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    for (std::uint64_t i = 0; i < n; ++i) co_await asio::post(where, asio::use_awaitable);
}

asio::awaitable<int> one() { co_return 1; }

// Only the co_spawn calls are timed.
double create(std::uint64_t n) {
    asio::io_context context(1);
    double took = 0;
    for (std::uint64_t left = n; left > 0;) {
        std::uint64_t const now = left < 500 ? left : 500;
        left -= now;
        auto const start = bench::clock::now();
        for (std::uint64_t i = 0; i < now; ++i) asio::co_spawn(context, one(), asio::detached);
        took += bench::ns_since(start);
        context.run();
        context.restart();
    }
    return took;
}

asio::awaitable<void> create_join(std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    for (std::uint64_t i = 0; i < n; ++i) {
        int const got = co_await asio::co_spawn(where, one(), asio::use_awaitable);
        bench::keep(got);
    }
}

asio::awaitable<void> race_two(std::uint64_t n) {
    using namespace asio::experimental::awaitable_operators;
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await (one() || one());
        bench::keep(got.index());
    }
}

bench::sample in_context(bench::budget b, asio::awaitable<void> (*body)(std::uint64_t)) {
    return bench::per_op(b, [body](std::uint64_t n) {
        asio::io_context context(1);
        asio::co_spawn(context, body(n), asio::detached);
        context.run();
    });
}

asio::awaitable<void> sleep_on(asio::steady_timer& never) {
    boost::system::error_code ignored;
    co_await never.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

} // namespace

BENCH_PEER("task/await_child", "Asio awaitable") {
    return bench::per_op(b, [](std::uint64_t n) {
        asio::io_context context(1);
        asio::co_spawn(context, await_children(n), asio::detached);
        context.run();
    });
}

BENCH_PEER("jobs/spawn_join_1t", "Asio co_spawn") { return spawn_join_1t(b); }
BENCH_PEER("jobs/spawn_join_2t", "Asio co_spawn") { return spawn_join_2t(b); }

BENCH_PEER("jobs/create", "Asio co_spawn") { return bench::measure(b, create); }
BENCH_PEER("jobs/create_join", "Asio co_spawn") { return in_context(b, create_join); }
BENCH_PEER("jobs/race_two", "Asio operator||") { return in_context(b, race_two); }

BENCH_PEER("runtime/yield_1t", "Asio post") {
    return bench::per_op(b, [](std::uint64_t n) {
        asio::io_context context(1);
        asio::co_spawn(context, yield_repeatedly(n), asio::detached);
        context.run();
    });
}

BENCH_PEER("scale/bytes_per_job", "Asio co_spawn") {
    constexpr std::size_t count = 20'000;
    asio::io_context context(1);
    asio::steady_timer never(context, std::chrono::steady_clock::time_point::max());
    double const before = static_cast<double>(mallinfo2().uordblks);
    for (std::size_t i = 0; i < count; ++i) asio::co_spawn(context, sleep_on(never), asio::detached);
    context.poll();
    double const after = static_cast<double>(mallinfo2().uordblks);
    return {(after - before) / static_cast<double>(count), count};
}
