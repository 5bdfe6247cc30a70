// A service with planted trouble. docs/guide/runbook.md explains the log of its shutdown line by line; a test compares the two.

#include <roost/runtime/blocking.hpp>
#include <roost/service/service.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin trouble
task<> export_month(event& printer, service::ledger::entry entry) {  // waits for what never comes
    co_await printer.wait();
    entry.complete();
}
task<> save_settings(event& disk) { co_await disk.wait(); }
task<> backup(event& disk) { co_await shield(1h, save_settings(disk)); }  // and may not be cancelled
task<> compress() {  // keeps a thread of the blocking lane
    co_await blocking([] { ::usleep(2'100'000); });
}
task<> render() {  // keeps its worker for 400 ms
    const auto end = std::chrono::steady_clock::now() + 400ms;
    while (std::chrono::steady_clock::now() < end) {}
    co_return;
}
task<> push_metrics() {
    throw std::runtime_error("no route to host");
    co_return;
}
// end trouble

task<> serve(service::host& h, event& printer, event& disk) {
    h.add("metrics", service::component_options().optional()).launch("push", push_metrics());
    service::component& orders = h.add("orders");
    orders.launch("month-end export", export_month(printer, h.ledger().accept()));
    orders.launch("backup", backup(disk));
    orders.launch("compress", compress());
    co_await orders.launch("render", render()).join();
    for (int i = 0; i < 3; ++i) h.ledger().accept().complete();
    h.set_ready();
    co_await sleep_for(200ms);
    ::kill(::getpid(), SIGUSR1);
    co_await sleep_for(200ms);
    ::kill(::getpid(), SIGTERM);
    co_await h.stopping();
}

}  // namespace

int main() {
    event printer("the printer");
    event disk("the disk");
    const int code = service::run([&](service::host& h) { return serve(h, printer, disk); },
                                  service::options()
                                      .name("shop")
                                      .environment("")
                                      .total(5s)
                                      .budget(service::phase::lame_duck, 100ms)
                                      .budget(service::phase::drain, 1s)
                                      .budget(service::phase::cancel, 500ms)
                                      .report_every(400ms)
                                      .runtime(runtime_options().name("shop").workers(2)));
    return code == service::exit_code::work_cancelled ? 0 : 1;
}
