#include "load.hpp"

#include <roost/asio/io_executor.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/task/on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <thread>

namespace demo {

using namespace roost;
using namespace std::chrono_literals;
namespace net = boost::asio;
using tcp = net::ip::tcp;

namespace {

constexpr int clients = 32;

// Everything the clients share; they all run on one thread.
struct plan {
    service::host* host = nullptr;
    load_counts* counts = nullptr;
    std::uint16_t port = 0;
    double rate = 0;
    std::uint64_t most = 0;
    std::uint64_t next = 0;
    time_point start;

    [[nodiscard]] bool is_over() const { return next >= most || !host->is_ready(); }
};

std::string request_text(std::uint64_t n) {
    const std::string body = "tea " + std::to_string(n % 9 + 1);
    return "POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::size_t length_of(std::string_view head) {
    static constexpr std::string_view field = "Content-Length: ";
    const std::size_t at = head.find(field);
    std::size_t length = 0;
    if (at != std::string_view::npos) {
        std::from_chars(head.data() + at + field.size(), head.data() + head.size(), length);
    }
    return length;
}

enum class reply { broken, last, more };

// Reads one whole answer; leaves nothing behind, because nothing was sent ahead.
task<reply> read_reply(tcp::socket& s, load_counts& counts) {
    std::string text;
    auto [ec, head] = co_await net::async_read_until(s, net::dynamic_buffer(text), "\r\n\r\n", net::as_tuple(use_task));
    if (ec) {
        co_return reply::broken;
    }
    const std::string_view top = std::string_view(text).substr(0, head);
    const bool last = top.find("Connection: close") != std::string_view::npos;
    const bool created = top.starts_with("HTTP/1.1 201");
    const std::size_t whole = head + length_of(top);
    if (text.size() < whole) {
        auto [ec2, rest] = co_await net::async_read(s, net::dynamic_buffer(text), net::transfer_exactly(whole - text.size()),
                                                    net::as_tuple(use_task));
        if (ec2) {
            co_return reply::broken;
        }
    }
    counts.answered.fetch_add(1, std::memory_order_relaxed);
    counts.created.fetch_add(created ? 1 : 0, std::memory_order_relaxed);
    co_return last ? reply::last : reply::more;
}

task<reply> exchange(tcp::socket& s, plan& p, std::uint64_t n) {
    const std::string text = request_text(n);
    auto [ec, written] = co_await net::async_write(s, net::buffer(text), net::as_tuple(use_task));
    if (ec) {
        co_return reply::broken;
    }
    co_return co_await read_reply(s, *p.counts);
}

// One connection, until it ends or the load is over.
task<> converse(tcp::socket& s, plan& p) {
    for (reply how = reply::more; how == reply::more;) {
        if (p.is_over()) {
            co_return;
        }
        const std::uint64_t mine = p.next++;
        co_await sleep_until(
            ext::deadline_after(p.start, std::chrono::duration<double>(static_cast<double>(mine) / p.rate)));
        if (!p.host->is_ready()) {
            co_return;
        }
        p.counts->sent.fetch_add(1, std::memory_order_relaxed);
        const std::optional<reply> got = co_await move_on_after(15s, exchange(s, p, mine));
        how = got.value_or(reply::broken);
        p.counts->broken.fetch_add(how == reply::broken ? 1 : 0, std::memory_order_relaxed);
    }
}

task<> client(net::io_context& io, plan& p) {
    while (!p.is_over()) {
        tcp::socket s(io);
        const tcp::endpoint to(net::ip::address_v4::loopback(), p.port);
        const auto connected = co_await move_on_after(5s, s.async_connect(to, net::as_tuple(use_task)));
        if (!connected || std::get<0>(*connected)) {
            co_await sleep_for(50ms);
            continue;
        }
        boost::system::error_code ignored;
        s.set_option(tcp::no_delay(true), ignored);
        co_await converse(s, p);
    }
}

task<> all_clients(scope& s, net::io_context& io, plan& p) {
    for (int i = 0; i < clients; ++i) {
        s.launch("client", client(io, p));
    }
    co_return;
}
task<> run_clients(net::io_context& io, plan& p) {
    p.start = now();
    co_await with_scope(all_clients, std::ref(io), std::ref(p));
}
task<> run_load(executor_ref where, net::io_context& io, plan& p) { co_await on(where, run_clients(io, p)); }

}  // namespace

struct load::parts {
    net::io_context io{1};
    net::executor_work_guard<net::io_context::executor_type> at_work{io.get_executor()};
    plan all;
    std::thread thread;
};

load::load() : parts_(std::make_unique<parts>()) {}
load::~load() { join(); }

void load::start(service::host& host, service::component& owner, std::uint16_t port, double rate, double seconds) {
    parts& p = *parts_;
    p.all.host = &host;
    p.all.counts = &counts;
    p.all.port = port;
    p.all.rate = rate;
    p.all.most = static_cast<std::uint64_t>(rate * seconds);
    io_executor::of(p.io).set_single_threaded();
    p.thread = std::thread([&p] { p.io.run(); });
    owner.launch("clients", run_load(io_executor::of(p.io), p.io, p.all));
}

void load::join() {
    parts_->at_work.reset();
    if (parts_->thread.joinable()) {
        parts_->thread.join();
    }
}

}  // namespace demo
