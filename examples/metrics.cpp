// An application's own metrics, beside those of the library: what a Prometheus server reads.

#include <roost/roost.hpp>

#include <cstdio>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin metrics
struct shop_metrics {
    metrics::counter orders{"shop_orders_total", "Orders accepted."};
    metrics::labelled<metrics::counter> answers{"shop_answers_total", "Answers sent, by status.", {"status"}};
    metrics::gauge open{"shop_open_requests", "Requests that are being answered."};
    metrics::histogram took{"shop_answer_seconds", "From a request to its answer.", metrics::buckets{0.001, 0.01, 0.1, 1}};
};
// end metrics

// begin handle
task<> answer(shop_metrics& shop, int number) {
    const time_point began = now();
    shop.open.add(1);
    co_await sleep_for(1ms);
    shop.orders.add();
    shop.answers.with({number % 4 == 0 ? "404" : "200"}).add();
    shop.open.add(-1);
    const observe::trace_context* const trace = co_await observe::current_trace.find();
    shop.took.record(now() - began, trace->as_exemplar());
}
// end handle

task<> serve(scope& s, shop_metrics& shop) {
    for (int i = 0; i < 8; ++i) {
        s.launch("request", with_value(observe::current_trace, observe::trace_context::fresh(), answer(shop, i)));
    }
    co_return;
}

task<> program(shop_metrics& shop) { co_await with_scope(serve, std::ref(shop)); }

}  // namespace

int main() {
    metrics::enable();  // measures jobs too
    shop_metrics shop;
    run(program(shop));
    std::fputs(metrics::to_text("text/plain").c_str(), stdout);
    std::fputs(metrics::to_text("application/openmetrics-text").c_str(), stdout);
    return shop.orders.value() == 8 && shop.answers.with({"404"}).value() == 2 && shop.took.count() == 8 ? 0 : 1;
}
