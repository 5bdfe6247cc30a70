// Boost.Asio 1.81: two coroutines and two channels of capacity 1. channel on one thread (no lock), concurrent_channel
// with two threads running the context. Per hop.
#include "../../harness/harness.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
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

template <class Channel>
bench::sample ping_pong(bench::budget b, int threads) {
    auto s = bench::measure(b, [&](std::uint64_t n) {
        asio::io_context context(threads);
        Channel there(context.get_executor(), 1);
        Channel back(context.get_executor(), 1);
        asio::co_spawn(context, ping(there, back, n), asio::detached);
        asio::co_spawn(context, pong(there, back, n), asio::detached);
        auto const start = bench::clock::now();
        std::vector<std::thread> more;
        for (int i = 1; i < threads; ++i) more.emplace_back([&] { context.run(); });
        context.run();
        for (auto& t : more) t.join();
        return bench::ns_since(start);
    });
    return {s.value / 2, s.ops * 2};
}
} // namespace

BENCH_PEER("sync/channel_ping_pong_1t", "Asio channel") {
    return ping_pong<asio::experimental::channel<void(error_code, std::uint64_t)>>(b, 1);
}

BENCH_PEER("sync/channel_ping_pong_2t", "Asio concurrent_channel") {
    return ping_pong<asio::experimental::concurrent_channel<void(error_code, std::uint64_t)>>(b, 2);
}

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
bench::sample stream(bench::budget b, int threads) {
    return bench::per_op(b, [threads](std::uint64_t n) {
        asio::io_context context(threads);
        Channel pipe(context.get_executor(), 64);
        asio::co_spawn(context, send_all(pipe, n), asio::detached);
        asio::co_spawn(context, receive_all(pipe, n), asio::detached);
        std::vector<std::thread> more;
        for (int i = 1; i < threads; ++i) more.emplace_back([&] { context.run(); });
        context.run();
        for (auto& t : more) t.join();
    });
}
} // namespace

BENCH_PEER("sync/channel_stream_1t", "Asio channel") {
    return stream<asio::experimental::channel<void(error_code, std::uint64_t)>>(b, 1);
}
BENCH_PEER("sync/channel_stream_2t", "Asio concurrent_channel") {
    return stream<asio::experimental::concurrent_channel<void(error_code, std::uint64_t)>>(b, 2);
}
