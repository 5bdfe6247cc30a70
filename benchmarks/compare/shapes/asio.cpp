// Boost.Asio 1.81: awaitable; children as promises (use_promise); an actor is a strand that calls are spawned on.
#include "../../harness/asio_crew.hpp"
#include "../../harness/harness.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/promise.hpp>
#include <boost/asio/experimental/use_promise.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;

namespace {

using strand = asio::strand<asio::io_context::executor_type>;

bench::sample in_context(bench::budget b, int per, auto make) {
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        asio::io_context context(1);
        asio::co_spawn(context, make(n), asio::detached);
        context.run();
    });
    return {s.value / per, s.ops * static_cast<std::uint64_t>(per)};
}

asio::awaitable<int> one() { co_return 1; }
asio::awaitable<int> middle() { co_return co_await one() + 1; }
asio::awaitable<int> outer() { co_return co_await middle() + 1; }

asio::awaitable<void> chain(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) bench::keep(co_await outer());
}

asio::awaitable<void> concurrent(int count, std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    using promise = decltype(asio::co_spawn(where, one(), asio::experimental::use_promise));
    std::vector<promise> all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < n; ++i) {
        for (int k = 0; k < count; ++k) all.push_back(asio::co_spawn(where, one(), asio::experimental::use_promise));
        int sum = 0;
        for (auto& child : all) sum += co_await child(asio::use_awaitable);
        bench::keep(sum);
        all.clear();
    }
}

asio::awaitable<std::uint64_t> query(std::uint64_t value) { co_return value + 1; }

asio::awaitable<void> client(strand& to, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const answer = co_await asio::co_spawn(to, query(i), asio::use_awaitable);
        if (answer != i + 1) std::abort();
    }
}

bench::sample asks(bench::budget b, int count) {
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        asio::io_context context(1);
        strand actor(context.get_executor());
        for (int k = 0; k < count; ++k) asio::co_spawn(context, client(actor, n), asio::detached);
        context.run();
    });
    return {s.value / count, s.ops * static_cast<std::uint64_t>(count)};
}

asio::awaitable<bool> authenticate(std::uint64_t user) { co_return user != ~std::uint64_t{0}; }

asio::awaitable<std::uint64_t> handle(strand& database, std::uint64_t user) {
    bool const is_known = co_await authenticate(user);
    if (!is_known) co_return 0;
    std::uint64_t const row = co_await asio::co_spawn(database, query(user), asio::use_awaitable);
    co_return row + 1;
}

// A wave ends when the context has nothing left to do.
bench::sample http(bench::budget b, int count) {
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        asio::io_context context(1);
        strand database(context.get_executor());
        for (std::uint64_t round = 0; round < n; ++round) {
            for (int k = 0; k < count; ++k) {
                asio::co_spawn(context, handle(database, static_cast<std::uint64_t>(k)), asio::detached);
            }
            context.run();
            context.restart();
        }
    });
    return {s.value / count, s.ops * static_cast<std::uint64_t>(count)};
}

// The same on threads that are kept; the last request wakes whoever started the wave.
asio::awaitable<void> waves(bench::asio_join& all, strand& database, int count, std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    for (std::uint64_t round = 0; round < n; ++round) {
        all.expect(static_cast<std::uint64_t>(count));
        for (int k = 0; k < count; ++k) {
            asio::co_spawn(where, handle(database, static_cast<std::uint64_t>(k)), all.one());
        }
        co_await all.wait();
    }
}

bench::sample http_2t(bench::budget b, int count) {
    bench::asio_crew threads(2);
    strand database(threads.get_executor());
    auto const s = bench::per_op(b, [&](std::uint64_t n) { threads.run(waves(threads.join(), database, count, n)); });
    return {s.value / count, s.ops * static_cast<std::uint64_t>(count)};
}

bench::sample concurrently(bench::budget b, int count) {
    return in_context(b, count, [&](std::uint64_t n) { return concurrent(count, n); });
}

} // namespace

BENCH_PEER("task/chain", "Asio awaitable") { return in_context(b, 1, chain); }
BENCH_PEER("jobs/concurrent_1", "Asio co_spawn") { return concurrently(b, 1); }
BENCH_PEER("jobs/concurrent_2", "Asio co_spawn") { return concurrently(b, 2); }
BENCH_PEER("jobs/concurrent_4", "Asio co_spawn") { return concurrently(b, 4); }
BENCH_PEER("jobs/concurrent_8", "Asio co_spawn") { return concurrently(b, 8); }
BENCH_PEER("jobs/concurrent_16", "Asio co_spawn") { return concurrently(b, 16); }
BENCH_PEER("jobs/concurrent_32", "Asio co_spawn") { return concurrently(b, 32); }
BENCH_PEER("jobs/concurrent_64", "Asio co_spawn") { return concurrently(b, 64); }
BENCH_PEER("jobs/ask_1", "Asio strand") { return asks(b, 1); }
BENCH_PEER("jobs/ask_10", "Asio strand") { return asks(b, 10); }
BENCH_PEER("jobs/ask_100", "Asio strand") { return asks(b, 100); }
BENCH_PEER("jobs/http_1", "Asio") { return http(b, 1); }
BENCH_PEER("jobs/http_10", "Asio") { return http(b, 10); }
BENCH_PEER("jobs/http_100", "Asio") { return http(b, 100); }
BENCH_PEER("jobs/http_1000", "Asio") { return http(b, 1000); }
BENCH_PEER("jobs/http_1000_2t", "Asio") { return http_2t(b, 1000); }
