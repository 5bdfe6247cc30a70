// A runtime with options of its own, a serial executor on it, and what its end reports.

#include <roost/exec/serial_executor.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/on.hpp>
#include <roost/task/scope.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin overrun
// Called by a thread of the runtime while the body still runs.
void note_overrun(const observe::overrun& o, void* context) noexcept {
    std::fprintf(static_cast<std::FILE*>(context), "%s\n", o.to_string().c_str());
}
// end overrun

// begin serial
task<> deposit(int& balance) {
    const int seen = balance;  // no lock: bodies on one serial executor never run at the same time
    balance = seen + 1;
    co_return;
}

task<> deposit_often(scope& s, serial_executor& account, int& balance) {
    for (int i = 0; i < 1000; ++i) {
        s.launch("deposit", on(account, deposit(balance)));
    }
    co_return;
}
// end serial

}  // namespace

int main() {
    int balance = 0;
    // begin make
    runtime rt(runtime_options()
                   .name("shop")             // in reports and in the names of its threads
                   .workers(2)               // 0, the default: one for each CPU that the process may use
                   .blocking_threads(8)      // at most, for blocking(...)
                   .blocking_patience(2s)    // how long the end waits for a blocking function that does not return
                   .soft_budget(50ms)        // a body that runs longer without an await is reported ...
                   .on_overrun(note_overrun, stdout));  // ... here
    {
        serial_executor account(rt, "account 7");
        run(rt, with_scope(deposit_often, std::ref(account), std::ref(balance)));
    }
    const runtime_ending ending = rt.shut_down();
    for (const observe::lane_entry& left : ending.abandoned()) {
        std::printf("abandoned: %s\n", left.to_string().c_str());
    }
    // end make
    std::printf("balance %d\n", balance);
    return balance == 1000 && ending.abandoned().empty() ? 0 : 1;
}
