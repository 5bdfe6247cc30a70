// Two jobs lock the same two mutexes in a different order. find_cycles() names both, with the lines that they are stuck at.

#include <roost/observe/waits.hpp>
#include <roost/runtime/run.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include <cstdio>
#include <vector>

using namespace std::chrono_literals;

// begin deadlock
roost::task<> transfer(roost::mutex& accounts, roost::mutex& ledger) {
    auto account = co_await accounts.lock();
    co_await roost::sleep_for(10ms);
    auto entry = co_await ledger.lock();
}

roost::task<> audit(roost::mutex& accounts, roost::mutex& ledger) {
    auto entry = co_await ledger.lock();
    co_await roost::sleep_for(10ms);
    auto account = co_await accounts.lock();  // the other order
}

roost::task<bool> watch(roost::scope& s, roost::mutex& accounts, roost::mutex& ledger) {
    roost::job first = s.launch("transfer", transfer(accounts, ledger));
    s.launch("audit", audit(accounts, ledger));
    std::vector<roost::observe::wait_cycle> found;
    for (int round = 0; round < 500 && found.empty(); ++round) {
        co_await roost::sleep_for(10ms);
        found = roost::observe::find_cycles(s);
    }
    for (const auto& cycle : found) {
        std::fputs(cycle.to_string().c_str(), stdout);
    }
    first.cancel();  // gives its lock back, so the other one goes on
    co_return found.size() == 1;
}
// end deadlock

roost::task<int> start() {
    roost::observe::set_owner_tracking(true);
    roost::mutex accounts("accounts");
    roost::mutex ledger("ledger");
    const bool is_found = co_await roost::with_scope(watch, std::ref(accounts), std::ref(ledger));
    co_return is_found ? 0 : 1;
}

int main() { return roost::run(start()); }
