// The parts of a service and the order in which they end.

#include <roost/service/service.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/sleep.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

using orders = channel<int>;

task<> accept_orders(orders& queue, roost::shutdown stop) {
    for (int number = 1; stop.state() == shutdown_state::running; ++number) {
        static_cast<void>(co_await queue.send(number));
        co_await sleep_for(1ms);
    }
    queue.close();
}

task<> pack(orders& queue) {
    for (;;) {
        const auto next = co_await queue.receive();
        if (!next) break;
        co_await sleep_for(1ms);
    }
}

task<> push_metrics() {
    for (;;) co_await sleep_for(10ms);
}

task<> close_database() {
    std::puts("the database is closed");
    co_return;
}

// begin components
task<> serve(service::host& h) {
    orders queue(16, "orders");

    // Stopped last, in phase release, when all work is gone.
    service::component& database = h.add("database", service::component_options().release());
    database.on_stop([] { return close_database(); });

    // Stopped in phase drain: what was begun is finished. May take 5 s of the phase's 15 s.
    service::component& packing = h.add("packing", service::component_options().budget(5s));
    packing.launch("pack", pack(queue));

    // The service continues when it fails.
    service::component& metrics = h.add("metrics", service::component_options().optional());
    metrics.launch("push", push_metrics());
    metrics.on_stop([&metrics]() -> task<> {
        metrics.jobs().cancel();
        co_return;
    });

    // Stopped first, in phase stop intake: nothing new comes in.
    service::component& door = h.add("door", service::component_options().intake());
    door.launch("accept", accept_orders(queue, door.shutdown()));

    h.set_ready();
    co_await h.stopping();
}
// end components

task<> serve_for_a_moment(service::host& h) {
    h.main().launch("clock", [](service::host& all) -> task<> {
        co_await sleep_for(20ms);
        all.shut_down("the example is over");
    }(h));
    co_await serve(h);
}

}  // namespace

int main() { return service::run(serve_for_a_moment, service::options().name("shop")); }
