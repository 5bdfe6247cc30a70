// A stuck program is asked what it does: a deadlock of two locks, the line of each job, a page of the tree, metrics, a recording.
#include <roost/roost.hpp>

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace observe = roost::observe;
namespace metrics = roost::metrics;

roost::task<> lock_both(roost::mutex& first, roost::mutex& second) {
    auto one = co_await first.lock();
    co_await roost::sleep_for(20ms);
    auto other = co_await second.lock();
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

int expect(bool holds, const char* what, const std::string& text) {
    if (!holds) {
        std::printf("%s:\n%s\n", what, text.c_str());
    }
    return holds ? 0 : 1;
}

}  // namespace

int main() {
    alarm(60);
    observe::set_owner_tracking(true);
    observe::recorder::start();
    metrics::enable();
    const metrics::counter started("outside_started_total", "Jobs that were started.");
    int wrong = 0;
    {
        roost::runtime rt;
        roost::mutex accounts("accounts");
        roost::mutex ledger("ledger");
        roost::owned_scope root(rt, roost::scope_options("root").report_failures());
        const roost::job transfer = root.launch("transfer", lock_both(accounts, ledger));
        root.launch("audit", lock_both(ledger, accounts));
        started.add(2);
        std::vector<observe::wait_cycle> cycles;
        for (int i = 0; i < 3000 && cycles.empty(); ++i) {
            std::this_thread::sleep_for(10ms);
            cycles = observe::find_cycles(root);
        }
        const std::string cycle = cycles.empty() ? std::string("none") : cycles.front().to_string();
        wrong += expect(has(cycle, "'transfer'") && has(cycle, "'audit'") && has(cycle, "looks_inside.cpp:21"),
                        "no deadlock", cycle);
        const std::string dump = observe::dump(root);
        wrong +=
            expect(has(dump, "looks_inside.cpp:21, waits on mutex 'ledger' (held "), "the dump has no line or owner", dump);
        observe::snapshot_page at;
        std::size_t rows = 0;
        const auto ones = observe::snapshot_options().nodes(1);
        while (!at.is_end()) {
            const observe::tree_snapshot page = observe::snapshot(root.tree_node(), ones, at);
            rows += page.rows().size();
        }
        wrong += expect(rows == 3, "pages of one row", std::to_string(rows));
        wrong += expect(observe::find_node(observe::id_of(transfer.tree_node())).name() == "transfer",
                        "the number of a node", "");
        transfer.cancel();
        root.close_blocking();
    }
    const std::string text = metrics::to_prometheus();
    wrong += expect(has(text, "outside_started_total 2"), "the program's own counter", text);
    wrong += expect(has(text, "roost_jobs_total{outcome=\"cancelled\",name=\"transfer\"} 1"), "the library's counter", text);
    const std::string trace = observe::to_chrome_trace(observe::recorder::snapshot());
    wrong += expect(has(trace, "\"transfer\"") && has(trace, "\"audit\""), "the trace", trace.substr(0, 500));
    wrong += expect(observe::read_recording("no recording").problem() != std::string_view(), "a file of another kind", "");
    return wrong;
}
