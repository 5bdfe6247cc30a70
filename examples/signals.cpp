// Signals without a service: one line for Ctrl-C, and a wait like any other for the rest.

#include <roost/flow/race.hpp>
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
    static_cast<void>(co_await orders.send(1));
    static_cast<void>(
        co_await orders.send(2));  // there is room for it when the first has been taken, by a task that watches for SIGHUP
    ::kill(::getpid(), SIGHUP);
    co_await sleep_for(5ms);
    static_cast<void>(co_await orders.send(3));
    ::kill(::getpid(), SIGINT);  // Ctrl-C
    co_await sleep_for(1h);
}

// begin race
// The first of several signals, as a task: alone, or in a race with the work.
task<bool> work_until_signal(task<> work) {
    auto first = co_await race(std::move(work), signal_received(SIGUSR1, SIGUSR2));
    co_return first.index() == 1;
}
// end race

task<> signal_myself() {
    co_await sleep_for(2ms);
    ::kill(::getpid(), SIGUSR1);
    co_await sleep_for(1h);
}

task<> serve_orders(scope& s) {
    const bool stopped = co_await work_until_signal(signal_myself());
    std::puts(stopped ? "stopped by a signal" : "the work has ended");
    channel<int> orders(1, "orders");
    s.launch("orders", some_orders(orders));
    co_await work_and_reload(orders);
}
task<> serve() { co_await with_scope(serve_orders); }

// begin main
int serve_until_ctrl_c() { return run_until_signal(serve()); }
// end main

}  // namespace

int main() { return serve_until_ctrl_c() == 128 + SIGINT ? 0 : 1; }
