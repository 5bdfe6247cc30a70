// Tasks on an io_context: an echo server whose sessions have deadlines, a client, and a stop that ends the accept.

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/task/scope.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstdio>
#include <string>

namespace net = boost::asio;
using namespace std::chrono_literals;
using net::ip::tcp;
using roost::use_task;

// begin session
roost::task<> session(tcp::socket peer) {
    std::array<char, 1024> data;
    for (;;) {
        auto [ec, n] = co_await roost::fail_after(5s, peer.async_read_some(net::buffer(data), net::as_tuple(use_task)));
        if (ec) {
            co_return;  // the client has gone
        }
        co_await roost::fail_after(5s, net::async_write(peer, net::buffer(data, n), use_task));
    }
}
// end session

// begin accept
roost::task<> accept_all(roost::scope& s, tcp::acceptor& door) {
    for (;;) {
        auto [ec, peer] = co_await door.async_accept(net::as_tuple(use_task));
        if (ec) {
            co_return;  // operation_aborted: the job was stopped
        }
        s.launch("session", session(std::move(peer)));
    }
}
roost::task<> serve(tcp::acceptor& door) { co_await roost::with_scope(accept_all, std::ref(door)); }
// end accept

roost::task<std::string> ask(net::io_context& io, tcp::endpoint where, std::string text) {
    tcp::socket s(io);
    co_await s.async_connect(where, use_task);
    co_await net::async_write(s, net::buffer(text), use_task);
    std::string answer(text.size(), ' ');
    std::size_t n = co_await s.async_read_some(net::buffer(answer), use_task);
    co_return answer.substr(0, n);
}

// begin main
int main() {
    net::io_context io;
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    net::cancellation_signal stop;
    std::string answer;

    // Asio code waits for Roost: any completion token will do, and its cancellation slot is served.
    roost::async_run(io, "echo", serve(door), net::bind_cancellation_slot(stop.slot(), [](std::exception_ptr) {}));
    roost::async_run(io, "client", ask(io, door.local_endpoint(), "hello"), [&](std::exception_ptr, std::string got) {
        answer = got;
        stop.emit(net::cancellation_type::total);  // stop: the accept ends, sessions finish
    });
    io.run();
    std::printf("%s\n", answer.c_str());
    return answer == "hello" ? 0 : 1;
}
// end main
