#include "load.hpp"

#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_scope.hpp>

#include <charconv>
#include <string>

namespace demo {

using namespace roost;
using namespace std::chrono_literals;

namespace {

constexpr int clients = 32;
constexpr std::string_view head_end = "\r\n\r\n";

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

}  // namespace

// Reads one whole answer; leaves nothing behind, because nothing was sent ahead.
task<load::reply> load::exchange(io::tcp_stream& s, std::uint64_t n) {
    const std::string text = request_text(n);
    const auto written = co_await s.write_all(text);
    if (!written) {
        co_return reply::broken;
    }
    std::string got;
    const auto head = co_await s.read_until(got, head_end);
    if (!head) {
        co_return reply::broken;
    }
    const std::string_view top = std::string_view(got).substr(0, *head);
    const bool last = top.find("Connection: close") != std::string_view::npos;
    const bool created = top.starts_with("HTTP/1.1 201");
    std::string body(length_of(top) + *head - got.size(), ' ');  // what has not come with the head
    const auto rest = co_await s.read_exactly(body);
    if (!rest) {
        co_return reply::broken;
    }
    counts.answered.fetch_add(1, std::memory_order_relaxed);
    counts.created.fetch_add(created ? 1 : 0, std::memory_order_relaxed);
    co_return last ? reply::last : reply::more;
}

// One connection, until it ends or the load is over.
task<> load::converse(io::tcp_stream& s) {
    for (reply how = reply::more; how == reply::more && !is_over();) {
        const std::uint64_t mine = next_.fetch_add(1, std::memory_order_relaxed);
        co_await sleep_until(ext::deadline_after(start_, std::chrono::duration<double>(static_cast<double>(mine) / rate_)));
        if (!host_->is_ready()) {
            co_return;
        }
        counts.sent.fetch_add(1, std::memory_order_relaxed);
        const std::optional<reply> got = co_await move_on_after(15s, exchange(s, mine));
        how = got.value_or(reply::broken);
        counts.broken.fetch_add(how == reply::broken ? 1 : 0, std::memory_order_relaxed);
    }
}

task<> load::run_client() {
    while (!is_over()) {
        auto s = co_await move_on_after(5s, io::tcp_stream::connect(io::endpoint::loopback(port_)));
        if (s && *s) {
            co_await converse(**s);
        } else {
            co_await sleep_for(50ms);
        }
    }
}

task<> load::start_clients(scope& s, load& self) {
    for (int i = 0; i < clients; ++i) {
        s.launch("client", self.run_client());
    }
    co_return;
}

task<> load::run() {
    start_ = now();
    co_await with_scope(&load::start_clients, std::ref(*this));
}

void load::start(service::host& host, service::component& owner, std::uint16_t port, double rate, double seconds) {
    host_ = &host;
    port_ = port;
    rate_ = rate;
    most_ = static_cast<std::uint64_t>(rate * seconds);
    owner.launch("clients", run());
}

}  // namespace demo
