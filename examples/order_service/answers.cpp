#include "answers.hpp"

#include "counted.hpp"

#include <roost/observe/metrics.hpp>
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
        s.counts.late.add();
        co_return response(status::gateway_timeout, "the order is not stored yet\n");
    }
    switch (*how) {
        case answer::stored: co_return response(status::created, "order " + std::to_string(o->id) + "\n");
        case answer::open: co_return response(status::service_unavailable, "the queue is full, come back later\n");
        default: s.counts.spoilt.add(); co_return response(status::server_error, "the order was not stored\n");
    }
}

response yes_or_no(bool yes, const char* if_yes, const char* if_no) {
    return response(yes ? status::ok : status::service_unavailable, yes ? if_yes : if_no);
}

}  // namespace

task<response> answer_to(shop& s, request from) {
    s.counts.requests.add();
    const counted here(s.counts.in_flight);
    switch (find_place(from)) {
        case place::orders: co_return co_await take_order(s, from);
        case place::not_a_post: co_return response(status::method_not_allowed, "POST an order, such as: tea 3\n");
        case place::healthz: co_return yes_or_no(s.host().is_live(), "live\n", "stuck\n");
        case place::readyz: co_return yes_or_no(s.host().is_ready(), "ready\n", "draining\n");
        case place::tree: co_return response(status::ok, s.host().tree());
        case place::metrics: {
            response made(status::ok, metrics::to_prometheus());
            made.type = "text/plain; version=0.0.4";
            co_return made;
        }
        default: co_return response(status::not_found, "there are /orders /healthz /readyz /metrics /tree\n");
    }
}

}  // namespace demo
