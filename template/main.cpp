// A service that takes orders from a queue and packs them. Ctrl-C drains it, twice cancels, three times kills.

#include "health.hpp"

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

class order {
public:
    order() = default;
    order(int number, service::ledger::entry entry) : number_(number), entry_(std::move(entry)) {}
    [[nodiscard]] int number() const { return number_; }
    void complete() { entry_.complete(); }

private:
    int number_ = 0;
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
    service::component& health = h.add("health", service::component_options().release());
    if (const char* port = std::getenv("SHOP_HEALTH_PORT")) {
        health_server::start(h, health, static_cast<unsigned short>(std::atoi(port)));
    }
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
    return service::run(serve, service::options().name("shop"));
}
