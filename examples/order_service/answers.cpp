#include "answers.hpp"

#include "counted.hpp"

#include <roost/task/timeout.hpp>

namespace demo {

using namespace roost;
using namespace std::chrono_literals;

namespace {

constexpr auto answer_limit = 10s;

task<response> take_order(shop& s, request from) {
    auto o = std::make_shared<order>();
    if (!read_order(from.body, o->item, o->quantity)) {
        co_return response(status::bad_request, "an order looks like this: tea 3\n");
    }
    o->entry = s.host().ledger().accept();
    const std::optional<answer> how = co_await move_on_after(answer_limit, s.place(o));
    if (!how) {  // it is still in the queue, and will be stored
        s.counts.late.fetch_add(1, std::memory_order_relaxed);
        co_return response(status::gateway_timeout, "the order is not stored yet\n");
    }
    switch (*how) {
        case answer::stored: co_return response(status::created, "order " + std::to_string(o->id) + "\n");
        case answer::open: co_return response(status::service_unavailable, "the queue is full, come back later\n");
        default:
            s.counts.spoilt.fetch_add(1, std::memory_order_relaxed);
            co_return response(status::server_error, "the order was not stored\n");
    }
}

response yes_or_no(bool yes, const char* if_yes, const char* if_no) {
    return response(yes ? status::ok : status::service_unavailable, yes ? if_yes : if_no);
}

}  // namespace

task<response> answer_to(shop& s, request from) {
    s.counts.requests.fetch_add(1, std::memory_order_relaxed);
    const counted here(s.counts.in_flight);
    switch (find_place(from)) {
        case place::orders: co_return co_await take_order(s, from);
        case place::not_a_post: co_return response(status::method_not_allowed, "POST an order, such as: tea 3\n");
        case place::healthz: co_return yes_or_no(s.host().is_live(), "live\n", "stuck\n");
        case place::readyz: co_return yes_or_no(s.host().is_ready(), "ready\n", "draining\n");
        case place::tree: co_return response(status::ok, s.host().tree());
        case place::metrics: {
            response made(status::ok, metrics_text(s));
            made.type = "text/plain; version=0.0.4";
            co_return made;
        }
        default: co_return response(status::not_found, "there are /orders /healthz /readyz /metrics /tree\n");
    }
}

std::string metrics_text(shop& s) {
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
