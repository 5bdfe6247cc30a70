#include "intake.hpp"

#include "requests.hpp"

#include <roost/asio/io_executor.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/task/on.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <thread>

namespace demo {

using namespace roost;
using namespace std::chrono_literals;
namespace net = boost::asio;
namespace http = boost::beast::http;
using tcp = net::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto idle_limit = 30s;   // between two requests of a connection
constexpr auto read_limit = 5s;    // from the first byte of a request to its last
constexpr auto write_limit = 5s;
constexpr auto answer_limit = 10s;
constexpr int backlog = 4096;

class counted {
public:
    explicit counted(std::atomic<std::int64_t>& n) noexcept : n_(&n) { n_->fetch_add(1, std::memory_order_relaxed); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { n_->fetch_sub(1, std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t>* n_;
};

task<response> take_order(shop& s, const request& from) {
    auto o = std::make_shared<order>();
    if (!read_order(from.body(), o->item, o->quantity)) {
        co_return make_response(from, http::status::bad_request, "an order looks like this: tea 3\n");
    }
    o->entry = s.host().ledger().accept();
    const std::optional<answer> how = co_await move_on_after(answer_limit, s.place(o));
    if (!how) {  // it is still in the queue, and will be stored
        s.counts.late.fetch_add(1, std::memory_order_relaxed);
        co_return make_response(from, http::status::gateway_timeout, "the order is not stored yet\n");
    }
    switch (*how) {
        case answer::stored: co_return make_response(from, http::status::created, "order " + std::to_string(o->id) + "\n");
        case answer::open:
            co_return make_response(from, http::status::service_unavailable, "the queue is full, come back later\n");
        default:
            s.counts.spoilt.fetch_add(1, std::memory_order_relaxed);
            co_return make_response(from, http::status::internal_server_error, "the order was not stored\n");
    }
}

response yes_or_no(const request& to, bool yes, const char* if_yes, const char* if_no) {
    return make_response(to, yes ? http::status::ok : http::status::service_unavailable, yes ? if_yes : if_no);
}

task<response> make_answer(shop& s, const request& from) {
    s.counts.requests.fetch_add(1, std::memory_order_relaxed);
    const counted here(s.counts.in_flight);
    switch (find_place(from)) {
        case place::orders: co_return co_await take_order(s, from);
        case place::not_a_post:
            co_return make_response(from, http::status::method_not_allowed, "POST an order, such as: tea 3\n");
        case place::healthz: co_return yes_or_no(from, s.host().is_live(), "live\n", "stuck\n");
        case place::readyz: co_return yes_or_no(from, s.host().is_ready(), "ready\n", "draining\n");
        case place::tree: co_return make_response(from, http::status::ok, s.host().tree());
        case place::metrics: {
            response made = make_response(from, http::status::ok, intake::metrics(s));
            made.set(http::field::content_type, "text/plain; version=0.0.4");
            co_return made;
        }
        default:
            co_return make_response(from, http::status::not_found, "there are /orders /healthz /readyz /metrics /tree\n");
    }
}

// True: the answer went out whole.
task<bool> send(tcp::socket& to, response& what, bool keep_alive) {
    what.keep_alive(keep_alive);
    what.prepare_payload();
    const auto sent = co_await move_on_after(write_limit, http::async_write(to, what, net::as_tuple(use_task)));
    co_return sent.has_value() && !std::get<0>(*sent);
}

// Says that nothing more comes, then waits until the other side has taken it, so that the kernel does not throw the answer
// away with a reset.
task<> read_rest(tcp::socket& from) {
    std::array<char, 4096> nothing;
    for (int reads = 0; reads < 16; ++reads) {
        auto [ec, n] = co_await from.async_read_some(net::buffer(nothing), net::as_tuple(use_task.through_stop()));
        if (ec) {
            co_return;
        }
    }
}
task<> close_gently(tcp::socket& s) {
    error_code ignored;
    s.shutdown(tcp::socket::shutdown_send, ignored);
    const auto ended = co_await move_on_after(1s, read_rest(s));
    static_cast<void>(ended);
    s.close(ignored);
}

// Without an error the request is whole, unless there is an objection() to it.
task<error_code> read_request(tcp::socket& from, boost::beast::flat_buffer& buffer, request_parser& parser) {
    auto [bad_header, n] = co_await http::async_read_header(from, buffer, parser, net::as_tuple(use_task));
    if (bad_header || parser.is_done() || objection(parser)) {
        co_return bad_header;
    }
    auto [bad_body, m] = co_await http::async_read(from, buffer, parser, net::as_tuple(use_task));
    co_return bad_body;
}

// One request and its answer. False: the connection ends.
task<bool> serve_one(tcp::socket& peer, boost::beast::flat_buffer& buffer, shop& s) {
    if (buffer.size() == 0) {
        // Between requests a stop ends the wait; from the first byte on the request is served. Who was about to send one could
        // not know: it is still taken, and answered with Connection: close.
        auto woken = co_await move_on_after(idle_limit, peer.async_wait(tcp::socket::wait_read, net::as_tuple(use_task)));
        if (woken && std::get<0>(*woken) == net::error::operation_aborted) {
            woken = co_await move_on_after(s.patience,
                                           peer.async_wait(tcp::socket::wait_read, net::as_tuple(use_task.through_stop())));
        }
        if (!woken || std::get<0>(*woken)) {
            co_return false;
        }
    }
    request_parser parser;
    set_limits(parser);
    const auto got = co_await move_on_after(read_limit, read_request(peer, buffer, parser));
    const bool refused = got && !*got && !parser.is_done();
    if (!got || *got || refused) {
        const std::optional<http::status> how = !got      ? http::status::request_timeout
                                                : refused ? objection(parser)
                                                          : complaint(*got);
        if (how) {
            s.counts.bad.fetch_add(1, std::memory_order_relaxed);
            response sorry = make_response(parser.get(), *how, std::string(http::obsolete_reason(*how)) + "\n");
            static_cast<void>(co_await send(peer, sorry, false));
        }
        co_return false;
    }
    const request asked = parser.release();
    response reply = co_await make_answer(s, asked);
    // Clients are told to go when they can no longer come back: before that they would only queue up at the door.
    const bool keep_alive = asked.keep_alive() && s.counts.open.load(std::memory_order_relaxed);
    const bool sent = co_await send(peer, reply, keep_alive);
    (sent ? s.counts.answered : s.counts.unanswered).fetch_add(1, std::memory_order_relaxed);
    co_return sent&& keep_alive;
}

task<> session(tcp::socket peer, shop& s, [[maybe_unused]] semaphore::permit place) {
    const counted here(s.counts.connections);
    error_code ignored;
    peer.set_option(tcp::no_delay(true), ignored);
    boost::beast::flat_buffer buffer;
    try {
        for (bool more = true; more;) {
            more = co_await serve_one(peer, buffer, s);
        }
        co_await close_gently(peer);
    } catch (const std::exception& e) {
        s.host().log(service::severity::warning, std::string("demo: a connection ended: ") + e.what());
    }
}

}  // namespace

struct intake::parts {
    explicit parts(std::uint32_t most_connections) : places(most_connections, "connections") {}

    net::io_context io{1};
    net::executor_work_guard<net::io_context::executor_type> at_work{io.get_executor()};
    tcp::acceptor acceptor{io};
    semaphore places;
    std::thread thread;

    void start_session(tcp::socket peer, shop& s, service::component& sessions, semaphore::permit place) {
        sessions.launch("session", run_session(io_executor::of(io), std::move(peer), s, std::move(place)));
    }
    static task<> run_session(io_executor& where, tcp::socket peer, shop& s, semaphore::permit place) {
        co_await on(where, session(std::move(peer), s, std::move(place)));
    }
    // Takes in who is at the door already, without waiting.
    error_code accept_waiting(shop& s, service::component& sessions, int at_most) {
        for (int i = 0; i < at_most; ++i) {
            semaphore::permit place = places.try_acquire();
            if (!place) {
                break;
            }
            error_code ec;
            tcp::socket peer = acceptor.accept(io, ec);
            if (ec) {
                return ec;
            }
            start_session(std::move(peer), s, sessions, std::move(place));
        }
        return {};
    }
    task<> accept_all(shop& s, service::component& sessions, const roost::shutdown& door) {
        error_code ec;
        acceptor.non_blocking(true, ec);
        // A stop ends every wait, also that for a free slot: else a full server would notice the stop only when a client leaves.
        // An accept that finds a client waiting never waits, hence the check.
        while (door.state() == shutdown_state::running) {
            std::optional<semaphore::permit> place = co_await door.interrupt(places.acquire());
            if (!place) {
                break;
            }
            std::tie(ec) = co_await acceptor.async_wait(tcp::acceptor::wait_read, net::as_tuple(use_task));
            place.reset();
            if (ec == net::error::operation_aborted) {
                break;
            }
            // All who came since the last turn: with one per turn the kernel's queue runs over when thousands come at once, and
            // who is thrown out of that believes to be connected.
            ec = accept_waiting(s, sessions, backlog);
            if (ec && ec != net::error::would_block) {
                co_await sleep_for(50ms);  // out of descriptors, most likely
            }
        }
        // Who has connected before the door closes is served, too.
        accept_waiting(s, sessions, backlog);
        acceptor.close(ec);
        s.counts.open.store(false, std::memory_order_relaxed);
    }
    static task<> run_door(parts& p, shop& s, service::component& sessions, const roost::shutdown& door) {
        co_await on(io_executor::of(p.io), p.accept_all(s, sessions, door));
    }
};

intake::intake(std::uint32_t most_connections) : parts_(std::make_unique<parts>(most_connections)) {}
intake::~intake() { join(); }

std::string intake::listen(std::uint16_t port) {
    error_code ec;
    const tcp::endpoint at(net::ip::address_v4::loopback(), port);
    parts_->acceptor.open(at.protocol(), ec);
    if (!ec) {
        parts_->acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    }
    if (!ec) {
        parts_->acceptor.bind(at, ec);
    }
    if (!ec) {
        parts_->acceptor.listen(backlog, ec);
    }
    if (!ec) {
        return {};
    }
    if (ec == net::error::address_in_use) {
        return "port " + std::to_string(port) + " is in use already; choose another with --port";
    }
    return "can't listen on 127.0.0.1:" + std::to_string(port) + ": " + ec.message();
}

std::uint16_t intake::port() const noexcept {
    error_code ignored;
    return parts_->acceptor.local_endpoint(ignored).port();
}

void intake::open(shop& s, service::component& door, service::component& sessions) {
    io_executor& ours = io_executor::of(parts_->io);
    ours.set_single_threaded();
    parts_->thread = std::thread([p = parts_.get()] { p->io.run(); });
    door.launch("accept", parts::run_door(*parts_, s, sessions, door.shutdown()));
}

void intake::join() {
    parts_->at_work.reset();
    if (parts_->thread.joinable()) {
        parts_->thread.join();
    }
}

std::string intake::metrics(shop& s) {
    const service::ledger_counts books = s.host().ledger().read();
    const pool_stats pool = s.database().stats();
    std::string text;
    const auto add = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
        text.append("# HELP ")
            .append(name)
            .append(" ")
            .append(help)
            .append("\n# TYPE ")
            .append(name)
            .append(" ")
            .append(type);
        text.append("\n").append(name).append(" ").append(std::to_string(value)).append("\n");
    };
    add("demo_requests_total", "counter", "Requests read.", s.counts.requests.load());
    add("demo_requests_bad_total", "counter", "Requests that were not read: too large, too slow, no HTTP.",
        s.counts.bad.load());
    add("demo_orders_accepted_total", "counter", "Orders in the ledger.", books.accepted());
    add("demo_orders_completed_total", "counter", "Orders stored.", books.completed());
    add("demo_orders_failed_total", "counter", "Orders not stored.", books.failed());
    add("demo_orders_cancelled_total", "counter", "Orders cancelled by shutdown.", books.cancelled());
    add("demo_orders_open", "gauge", "Orders on their way.", books.open());
    add("demo_queue_refused_total", "counter", "Orders that found the queue full.", s.counts.refused.load());
    add("demo_orders_late_total", "counter", "Orders that were stored after the client was told to ask later.",
        s.counts.late.load());
    add("demo_queue_length", "gauge", "Orders in the queue.", s.queue().size());
    add("demo_worker_failures_total", "counter", "Failures of workers that were restarted.",
        s.counts.worker_failures.load());
    add("demo_connections", "gauge", "Open connections.", s.counts.connections.load());
    add("demo_requests_in_flight", "gauge", "Requests being answered.", s.counts.in_flight.load());
    add("demo_pool_capacity", "gauge", "Database connections at most.", pool.capacity);
    add("demo_pool_out", "gauge", "Database connections in use.", pool.out);
    add("demo_pool_waiting", "gauge", "Who waits for one.", pool.waiting);
    add("demo_ready", "gauge", "1 while requests are welcome.", s.host().is_ready() ? 1 : 0);
    return text;
}

}  // namespace demo
