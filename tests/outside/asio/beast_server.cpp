// An HTTP server with Boost.Beast on the two workers of a runtime. Requests have deadlines. SIGTERM drains it: a request that
// is being answered is answered, idle connections are closed, and one that sends half a request is cut off by its deadline.
#include <roost/asio/asio_driver.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/roost.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <signal.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace net = boost::asio;
namespace http = boost::beast::http;
using namespace std::chrono_literals;
using net::ip::tcp;
using roost::task;
using roost::use_task;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

// --- the server ------------------------------------------------------------------------------------------------------------

struct tally {
    std::atomic<int> answered{0};
    std::atomic<int> too_slow{0};
    std::atomic<int> off_workers{0};
};

// begin idle
// An idle connection ends when the server is stopped, or after a while. Beast's read would go on.
task<bool> has_request(tcp::socket& peer, const boost::beast::flat_buffer& unread) {
    if (unread.size() != 0) {
        co_return true;
    }
    const auto ready = co_await roost::move_on_after(30s, peer.async_wait(tcp::socket::wait_read, net::as_tuple(use_task)));
    co_return ready && !std::get<0>(*ready);
}
// end idle

task<std::optional<request>> read_request(tcp::socket& peer, boost::beast::flat_buffer& unread, tally& seen) {
    request asked;
    const auto read = co_await roost::move_on_after(300ms, http::async_read(peer, unread, asked, net::as_tuple(use_task)));
    if (!read || std::get<0>(*read) == net::error::operation_aborted) {  // aborted: after a part of the request
        ++seen.too_slow;
        co_return std::nullopt;
    }
    if (std::get<0>(*read)) {
        co_return std::nullopt;
    }
    co_return asked;
}

// begin session
task<> session(tcp::socket peer, tally& seen) {
    boost::beast::flat_buffer unread;
    for (bool goes_on = true; goes_on;) {
        const bool sent_one = co_await has_request(peer, unread);
        if (!sent_one) {
            co_return;
        }
        const auto asked = co_await read_request(peer, unread, seen);
        if (!asked) {
            co_return;
        }
        if (asked->target() == "/slow") {
            co_await roost::sleep_for(200ms);
        }
        response answer(http::status::ok, asked->version());
        answer.body() = "you asked for " + std::string(asked->target());
        goes_on = asked->keep_alive();
        answer.keep_alive(goes_on);
        answer.prepare_payload();
        const auto [failed, n] = co_await roost::fail_after(5s, http::async_write(peer, answer, net::as_tuple(use_task)));
        if (failed) {
            co_return;
        }
        ++seen.answered;
        seen.off_workers += roost::runtime::this_worker() == roost::runtime::no_worker ? 1 : 0;
    }
}
// end session

task<> accept_all(roost::owned_scope& sessions, tcp::acceptor& door, tally& seen) {
    for (;;) {
        auto [error, peer] = co_await door.async_accept(net::as_tuple(use_task));
        if (error == net::error::operation_aborted) {
            co_return;  // stop
        }
        if (!error) {
            sessions.launch("session", session(std::move(peer), seen));
        }
    }
}
task<> wait_for(roost::shutdown_completion drained) { co_await drained.wait(); }

task<bool> serve(roost::executor_ref workers, tcp::acceptor& door, tally& seen) {
    const roost::shutdown server("http");
    roost::owned_scope sessions(server.tree_node(), workers, roost::scope_options("sessions").report_failures());
    net::signal_set signals(door.get_executor(), SIGTERM);
    sessions.launch("accept", accept_all(sessions, door, seen));
    co_await signals.async_wait(use_task);
    const bool in_time = co_await roost::move_on_after(10s, wait_for(server.shut_down()));
    if (!in_time) {
        std::fputs(server.report().to_string().c_str(), stderr);
        server.cancel();
    }
    sessions.request_close();
    co_await sessions.join();
    co_return in_time;
}

// --- the clients: with a context and a thread of their own, as if they were another program -----------------------------------

std::string ask(tcp::socket& to, const std::string& what) {
    boost::beast::flat_buffer unread;
    request asked(http::verb::get, what, 11);
    asked.set(http::field::host, "localhost");
    http::write(to, asked);
    response answer;
    http::read(to, unread, answer);
    return answer.body();
}

struct results {
    int answers = 0;
    bool slow_is_answered = false;
    bool idle_is_closed = false;
    bool half_is_closed = false;
};

bool is_closed_by_peer(tcp::socket& s) {
    char byte = 0;
    boost::system::error_code error;
    s.read_some(net::buffer(&byte, 1), error);
    return error == net::error::eof || error == net::error::connection_reset;
}

results run_clients(tcp::endpoint where) {
    results got;
    net::io_context io;
    tcp::socket idle(io);
    idle.connect(where);
    for (int i = 0; i < 100; ++i) {
        const std::string what = "/" + std::to_string(i);
        got.answers += ask(idle, what) == "you asked for " + what ? 1 : 0;
    }
    tcp::socket half(io);
    half.connect(where);
    net::write(half, net::buffer(std::string("GET / HTTP/1.1\r\nHo")));
    std::thread slow([&] {
        tcp::socket s(io);
        s.connect(where);
        got.slow_is_answered = ask(s, "/slow") == "you asked for /slow";
    });
    std::this_thread::sleep_for(50ms);  // the slow request is being answered by now
    ::kill(::getpid(), SIGTERM);
    slow.join();
    got.idle_is_closed = is_closed_by_peer(idle);
    got.half_is_closed = is_closed_by_peer(half);
    return got;
}

int main() {
    ::alarm(100);
    roost::ext::asio_driver io;
    roost::runtime rt(roost::runtime_options().workers(2).driver(io));
    tcp::acceptor door(io.context(), tcp::endpoint(net::ip::address_v4::loopback(), 0));
    tally seen;
    results got;
    std::thread clients([&got, where = door.local_endpoint()] { got = run_clients(where); });
    const bool in_time = roost::run(rt, serve(rt, door, seen));
    clients.join();
    std::printf(
        "%d answered, %d too slow; the clients saw %d answers; slow one answered: %d; idle one closed: %d; half one closed: "
        "%d\n",
        seen.answered.load(), seen.too_slow.load(), got.answers, got.slow_is_answered, got.idle_is_closed,
        got.half_is_closed);
    const bool right = in_time && got.answers == 100 && got.slow_is_answered && got.idle_is_closed && got.half_is_closed &&
                       seen.answered == 101 && seen.too_slow == 1 && seen.off_workers == 0;
    return right ? 0 : 1;
}
