// BASE_57: a time of the wall clock is no deadline.
#include <roost/base/time_limit.hpp>

#include <chrono>

using namespace std::chrono_literals;

void wait(roost::time_limit) {}
void fine() {
    wait(1s);
    wait(std::chrono::steady_clock::now() + 1s);
}

#ifdef FAIL_1
void wall_clock() {
    wait(std::chrono::system_clock::now() + 1s);  // expect: a deadline is a time of a monotonic clock: pass a duration
}
#endif
