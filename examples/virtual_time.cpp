// A test of code that sleeps, without sleeping: the clock jumps to the next deadline when everything is blocked.

#include <roost/roost.hpp>
#include <roost/testing/virtual_time.hpp>

#include <cstdio>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin code
// What is to be tested: three tries with a day between them, and no more than two days for all of it.
task<int> fetch(int& tries) {
    for (;;) {
        if (++tries == 3) {
            co_return 42;
        }
        co_await sleep_for(24h);
    }
}
task<> fetch_in_time(int& tries, int& got, duration limit) {
    auto answer = co_await move_on_after(limit, fetch(tries));
    got = answer ? *answer : -1;
}
// end code

// begin test
// The test: one thread, the same order on every run for the same seed, and it is over at once.
bool ends_with(duration limit, int expected_tries, int expected) {
    testing::virtual_time clock;
    owned_scope root(clock, scope_options("root").report_failures());
    const time_point start = clock.now();
    int tries = 0;
    int got = 0;
    root.launch("fetch", fetch_in_time(tries, got, limit));
    clock.run();
    const auto passed = std::chrono::duration_cast<std::chrono::hours>(clock.now() - start);
    std::printf("%d tries in %d hours gave %d\n", tries, static_cast<int>(passed.count()), got);
    root.request_close();
    return root.is_closed() && clock.leaks().empty() && tries == expected_tries && got == expected;
}
// end test

}  // namespace

int main() { return ends_with(72h, 3, 42) && ends_with(36h, 2, -1) ? 0 : 1; }
