// The report of a drain that hangs: times, phases, who holds it up with place, age and what it waits on, the exit code, the ledger last and bare.
#include <roost/service/service.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>

#include <unistd.h>

#include <cstdio>
#include <regex>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace service = roost::service;

namespace {

roost::task<> export_month(roost::event& printer) { co_await printer.wait(); }

roost::task<> serve(service::host& h, roost::event& printer) {
    auto order = h.ledger().accept();
    h.add("orders").launch("month-end export", export_month(printer));
    h.set_ready();
    order.complete();
    h.shut_down("the shop closes");
    co_await h.stopping();
}

std::vector<std::string> lines;
void keep(const service::log_line& line, void*) noexcept { lines.push_back(line.to_string()); }

// Lines that have to come, in this order; others may come between them.
const char* const expected[] = {
    R"(info roost: the shop closes: shutting down)",
    R"(info roost: phase lame duck, at most 0 ms)",
    R"(info roost: phase stop intake, at most [0-9.]+ m?s)",
    R"(info roost: phase drain, at most 900 ms)",
    R"(warning roost: phase drain for another [0-9]+ ms at most, [0-9]+ outstanding)",
    R"(warning roost:   1 job 'month-end export' \(.*drain_report\.cpp:[0-9]+\), age [0-9.]+ m?s, at .*drain_report\.cpp:[0-9]+, waits on event 'the printer')",
    R"(info roost: phase cancel, at most [0-9.]+ m?s)",
    R"(info roost: phase release, at most [0-9.]+ m?s)",
    R"(info roost: phase exit)",
    R"(info roost: 'shop' ends with 124)",
};

}  // namespace

int main() {
    ::alarm(110);
    roost::event printer("the printer");
    const int code = service::run(
        [&](service::host& h) { return serve(h, printer); },
        service::options().name("shop").total(20s).budget(service::phase::drain, 900ms).report_every(20ms).sink(keep));
    std::size_t at = 0;
    for (const char* want : expected) {
        const std::regex line(R"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z )" + std::string(want) +
                              ".*");
        while (at < lines.size() && !std::regex_match(lines[at], line)) ++at;
        if (at++ == lines.size()) {
            std::printf("no line, or none in its place, that reads: %s\n", want);
            for (const std::string& l : lines) std::printf("  %s\n", l.c_str());
            return 1;
        }
    }
    const bool last = lines.back() == "ledger: accepted=1 completed=1 failed=0 cancelled=0 abandoned=0 lost=0";
    if (!last || code != service::exit_code::work_cancelled) {
        std::printf("exit code %d, last line: %s\n", code, lines.back().c_str());
        return 1;
    }
    return 0;
}
