// A drain that does not end. The report names the job that holds it up, and the line where that job is suspended.

#include <roost/roost.hpp>

#include <cstdio>
#include <functional>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<> print_page(event& printer) { co_await printer.wait(); }

task<> invoice(event& printer) {
    co_await sleep_for(1ms);
    co_await print_page(printer);
}

task<> idle(shutdown server) { static_cast<void>(co_await server.interrupt(sleep_for(1h))); }  // ends when the drain begins

}  // namespace

int main() {
    runtime rt;
    const shutdown server("invoices");
    event printer("the printer");
    owned_scope requests(server.tree_node(), rt, scope_options("requests").report_failures());
    requests.launch("invoice 4711", invoice(printer));
    requests.launch("idle connection", idle(server));
    std::string report;
    // begin drain
    if (!server.shut_down().wait_blocking(200ms)) {
        report = server.report().to_string();
        std::fputs(report.c_str(), stdout);
        server.cancel();
    }
    // end drain
    requests.close_blocking();
    const bool is_named = report.find("job 'invoice 4711'") != std::string::npos;
    const bool is_located = report.find("find_stuck_drain.cpp:14 <- ") != std::string::npos &&
                            report.find("find_stuck_drain.cpp:18, waits on event 'the printer'") != std::string::npos;
    return is_named && is_located && report.find("idle") == std::string::npos ? 0 : 1;
}
