// Signals without a service: one line for Ctrl-C, and a wait like any other for the rest.

#include <roost/flow/select.hpp>
#include <roost/runtime/run_until_signal.hpp>
#include <roost/runtime/signal_watch.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/sleep.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdio>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin watch
task<> work_and_reload(channel<int>& orders) {
    signal_watch signals(SIGHUP);
    for (;;) {
        auto got = co_await select(orders.receive(), signals.receive());
        if (got.index() == 1) {
            std::puts("reading the settings again");
            continue;
        }
        auto order = std::move(got).get<0>();
        if (!order) break;  // closed
        std::printf("order %d\n", *order);
    }
}
// end watch

task<> some_orders(channel<int>& orders) {
    co_await orders.send(1);
    ::kill(::getpid(), SIGHUP);
    co_await sleep_for(5ms);
    co_await orders.send(2);
    ::kill(::getpid(), SIGINT);  // Ctrl-C
    co_await sleep_for(1h);
}

task<> serve_orders(scope& s) {
    channel<int> orders(4, "orders");
    s.launch("orders", some_orders(orders));
    co_await work_and_reload(orders);
}
task<> serve() { co_await with_scope(serve_orders); }

// begin main
int serve_until_ctrl_c() { return run_until_signal(serve()); }
// end main

}  // namespace

int main() { return serve_until_ctrl_c() == 128 + SIGINT ? 0 : 1; }
