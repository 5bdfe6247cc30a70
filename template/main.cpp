// A service that takes orders from a queue and packs them. Ctrl-C drains it, twice cancels, three times kills.

#include <roost/admin/admin.hpp>
#include <roost/observe/metrics.hpp>
#include <roost/service/service.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/sleep.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace service = roost::service;
using roost::task;

namespace {

const roost::metrics::counter packed("shop_parcels_total", "Orders packed.");
const roost::metrics::histogram took("shop_order_seconds", "From taking an order to its parcel.");

class order {
public:
    order() = default;
    order(int number, service::ledger::entry entry) : number_(number), entry_(std::move(entry)) {}
    [[nodiscard]] int number() const { return number_; }
    void complete() {
        entry_.complete();
        packed.add();
        took.record(roost::now() - taken_);
    }

private:
    int number_ = 0;
    roost::time_point taken_ = roost::now();
    service::ledger::entry entry_;
};

// The intake: replace it by your listener. Ends when its component is stopped; then nothing more comes.
task<> take_orders(service::host& h, roost::shutdown stop, roost::channel<order>& orders) {
    for (int number = 1; stop.state() == roost::shutdown_state::running; ++number) {
        static_cast<void>(co_await orders.send(order(number, h.ledger().accept())));
        co_await roost::sleep_for(std::chrono::milliseconds(20));
    }
    orders.close();
}

// The work: what has been taken is finished, also after the stop.
task<> pack_orders(roost::channel<order>& orders) {
    for (;;) {
        auto next = co_await orders.receive();
        if (!next) break;
        co_await roost::sleep_for(std::chrono::milliseconds(10));
        next->complete();
    }
}

task<> serve(service::host& h) {
    roost::channel<order> orders(16, "orders");
    const roost::metrics::collector depth = roost::metrics::observe_depth(orders, "orders");
    service::component& intake = h.add("intake", service::component_options().intake());
    const roost::job packer = h.main().launch("packer", pack_orders(orders));
    const roost::job taker = intake.launch("taker", take_orders(h, intake.shutdown(), orders));
    h.set_ready();
    co_await h.stopping();
    co_await taker.join();
    co_await packer.join();
}

}  // namespace

int main() {
    service::remember_signals();
    service::options options = service::options().name("shop");
    if (const char* address = std::getenv("SHOP_ADMIN")) {
        options.attach(roost::admin::listen(address));  // /metrics for Prometheus, /readyz and /livez for probes
    }
    return service::run(serve, options);
}
