// The echo server on Asio's sockets: tasks of a runtime whose workers drive the io_context.

#include "../harness/server_options.hpp"

#include <roost/asio/asio_driver.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/roost.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <functional>

namespace {

namespace asio = boost::asio;
using namespace roost;
using asio::ip::tcp;

task<> echo(tcp::socket peer) {
    std::array<char, bench::server_buffer> data;
    for (;;) {
        const auto [read_error, n] = co_await peer.async_read_some(asio::buffer(data), asio::as_tuple(use_task));
        if (read_error) co_return;
        const auto [write_error, sent] = co_await asio::async_write(peer, asio::buffer(data, n), asio::as_tuple(use_task));
        if (write_error) co_return;
    }
}

task<> serve(scope& s, tcp::acceptor& door) {
    for (;;) {
        auto [error, peer] = co_await door.async_accept(asio::as_tuple(use_task));
        if (error) continue;
        boost::system::error_code ignored;
        peer.set_option(tcp::no_delay(true), ignored);
        s.launch("session", echo(std::move(peer)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bench::server_options options = bench::parse_server_options(argc, argv);
    ext::asio_driver io;
    runtime rt(runtime_options().workers(static_cast<unsigned>(options.threads)).driver(io));
    tcp::acceptor door(io.context(),
                       tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(options.port)));
    bench::print_port(door.local_endpoint().port());
    run(rt, with_scope(serve, std::ref(door)));
}
