// Boost.Asio 1.81: two coroutines and two channels of capacity 1. channel on one thread (no lock), concurrent_channel
// with two threads that are kept running the context. Per hop.
#include "../../harness/asio_crew.hpp"
#include "../../harness/harness.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
template <class Channel>
asio::awaitable<void> ping(Channel& out, Channel& in, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        co_await out.async_send(error_code{}, i, asio::use_awaitable);
        co_await in.async_receive(asio::use_awaitable);
    }
}

template <class Channel>
asio::awaitable<void> pong(Channel& in, Channel& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t const v = co_await in.async_receive(asio::use_awaitable);
        co_await out.async_send(error_code{}, v, asio::use_awaitable);
    }
}

using plain = asio::experimental::channel<void(error_code, std::uint64_t)>;
using shared = asio::experimental::concurrent_channel<void(error_code, std::uint64_t)>;

// On one thread, which runs the context itself.
bench::sample alone(bench::budget b, asio::awaitable<void> (*body)(bench::asio_join&, std::uint64_t)) {
    return bench::per_op(b, [body](std::uint64_t n) {
        asio::io_context context(1);
        bench::asio_join both(context.get_executor());
        asio::co_spawn(context, body(both, n), asio::detached);
        context.run();
    });
}

bench::sample on_two_threads(bench::budget b, asio::awaitable<void> (*body)(bench::asio_join&, std::uint64_t)) {
    bench::asio_crew threads(2);
    return bench::per_op(b, [&](std::uint64_t n) { threads.run(body(threads.join(), n)); });
}

template <class Channel>
asio::awaitable<void> ping_pong(bench::asio_join& both, std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    Channel there(where, 1);
    Channel back(where, 1);
    both.expect(2);
    asio::co_spawn(where, ping(there, back, n), both.one());
    asio::co_spawn(where, pong(there, back, n), both.one());
    co_await both.wait();
}

bench::sample per_hop(bench::sample s) { return {s.value / 2, s.ops * 2}; }
} // namespace

BENCH_PEER("sync/channel_ping_pong_1t", "Asio channel") { return per_hop(alone(b, ping_pong<plain>)); }
BENCH_PEER("sync/channel_ping_pong_2t", "Asio concurrent_channel") { return per_hop(on_two_threads(b, ping_pong<shared>)); }

// One sender, one receiver, capacity 64. Per value.
namespace {
template <class Channel>
asio::awaitable<void> send_all(Channel& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) co_await out.async_send(error_code{}, i, asio::use_awaitable);
}
template <class Channel>
asio::awaitable<void> receive_all(Channel& in, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) co_await in.async_receive(asio::use_awaitable);
}

template <class Channel>
asio::awaitable<void> stream(bench::asio_join& both, std::uint64_t n) {
    auto const where = co_await asio::this_coro::executor;
    Channel pipe(where, 64);
    both.expect(2);
    asio::co_spawn(where, send_all(pipe, n), both.one());
    asio::co_spawn(where, receive_all(pipe, n), both.one());
    co_await both.wait();
}
} // namespace

BENCH_PEER("sync/channel_stream_1t", "Asio channel") { return alone(b, stream<plain>); }
BENCH_PEER("sync/channel_stream_2t", "Asio concurrent_channel") { return on_two_threads(b, stream<shared>); }
