// Boost.Asio's echo server: a coroutine per connection, with the executor's own type instead of any_io_executor. One thread: the
// concurrency hint 1. The deadline is one timer per connection that looks up when it is due, instead of a timer per read; with
// two threads the connection's two coroutines then share a strand.
#include "../../harness/server_options.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::steady_clock;

namespace {

using plain_executor = asio::io_context::executor_type;
using strand_executor = asio::strand<plain_executor>;
template <class Executor>
using socket_on = asio::basic_stream_socket<tcp, Executor>;
template <class Executor>
using timer_on = asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, Executor>;
template <class Executor>
inline constexpr auto token = asio::as_tuple(asio::use_awaitable_t<Executor>{});

template <class Executor>
asio::awaitable<void, Executor> echo(socket_on<Executor> socket) {
    std::array<char, bench::server_buffer> data;
    for (;;) {
        auto const [read_error, n] = co_await socket.async_read_some(asio::buffer(data), token<Executor>);
        if (read_error) co_return;
        auto const [write_error, written] = co_await asio::async_write(socket, asio::buffer(data, n), token<Executor>);
        if (write_error) co_return;
    }
}

template <class Executor>
struct watched {
    watched(socket_on<Executor> s, steady_clock::duration limit)
        : socket(std::move(s)), timer(socket.get_executor()), limit(limit) {}
    socket_on<Executor> socket;
    timer_on<Executor> timer;
    steady_clock::duration limit;
    steady_clock::time_point deadline = steady_clock::now() + limit;  // of the current read, and of the write after it
};

template <class Executor>
asio::awaitable<void, Executor> watch(std::shared_ptr<watched<Executor>> c) {
    while (c->socket.is_open() && steady_clock::now() < c->deadline) {
        c->timer.expires_at(c->deadline);
        co_await c->timer.async_wait(token<Executor>);
    }
    boost::system::error_code ignored;
    c->socket.close(ignored);
}

template <class Executor>
asio::awaitable<void, Executor> echo_watched(std::shared_ptr<watched<Executor>> c) {
    std::array<char, bench::server_buffer> data;
    for (;;) {
        c->deadline = steady_clock::now() + c->limit;
        auto const [read_error, n] = co_await c->socket.async_read_some(asio::buffer(data), token<Executor>);
        if (read_error) break;
        auto const [write_error, written] = co_await asio::async_write(c->socket, asio::buffer(data, n), token<Executor>);
        if (write_error) break;
    }
    boost::system::error_code ignored;
    c->socket.close(ignored);
    c->timer.cancel();
}

template <class Executor>
void start(socket_on<Executor> socket, int timeout_ms) {
    auto const where = socket.get_executor();
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (timeout_ms == 0) {
        asio::co_spawn(where, echo(std::move(socket)), asio::detached);
        return;
    }
    auto const c = std::make_shared<watched<Executor>>(std::move(socket), std::chrono::milliseconds(timeout_ms));
    asio::co_spawn(where, echo_watched(c), asio::detached);
    asio::co_spawn(where, watch(c), asio::detached);
}

asio::awaitable<void, plain_executor> serve(bench::server_options how) {
    auto const where = co_await asio::this_coro::executor;
    asio::basic_socket_acceptor<tcp, plain_executor> acceptor(
        where, tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(how.port)));
    bench::print_port(acceptor.local_endpoint().port());
    for (;;) {
        if (how.threads > 1 && how.timeout_ms > 0) {
            auto [error, socket] = co_await acceptor.async_accept(asio::make_strand(where), token<plain_executor>);
            if (!error) start(std::move(socket), how.timeout_ms);
        } else {
            auto [error, socket] = co_await acceptor.async_accept(token<plain_executor>);
            if (!error) start(std::move(socket), how.timeout_ms);
        }
    }
}

}  // namespace

int main(int argc, char** argv) try {
    bench::server_options const how = bench::parse_server_options(argc, argv);
    asio::io_context context(how.threads);
    asio::co_spawn(context.get_executor(), serve(how), [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    });
    std::vector<std::jthread> threads;
    for (int i = 1; i < how.threads; ++i) threads.emplace_back([&context] { context.run(); });
    context.run();
} catch (std::exception const& e) {
    std::fprintf(stderr, "asio: %s\n", e.what());
    return 1;
}
