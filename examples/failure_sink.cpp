// Where failures go that no caller waits for: a sink of the program's own.

#include <roost/base/failure_sink.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/owned_scope.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace roost;

namespace {

std::atomic<int> failures{0};

// begin sink
// Called by whatever thread the failure comes from. It must not throw, and it should not block: that thread is a worker.
void count_and_print(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
    ++failures;
    std::printf("%s '%s' (%s): %s\n", std::string(what).c_str(), std::string(name).c_str(), made_at.to_string().c_str(),
                describe(error).c_str());
}
// end sink

task<> refresh() {
    throw std::runtime_error("no route to host");
    co_return;
}

}  // namespace

int main() {
    // begin main
    const failure_sink before = set_failure_sink(count_and_print);
    {
        runtime rt;
        owned_scope background(
            rt, scope_options("background").report_failures());  // a root has no caller that its failures could be thrown to
        background.launch("refresh", refresh());
        background.close_blocking();
    }
    set_failure_sink(before);
    // end main
    return failures == 1 ? 0 : 1;
}
