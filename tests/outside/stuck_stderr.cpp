// Standard error is a pipe that nothing reads. Bodies overrun their budget and jobs fail: timers go on firing all the same.

#include <roost/roost.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

void burn(std::chrono::milliseconds d) {
    const auto until = std::chrono::steady_clock::now() + d;
    while (std::chrono::steady_clock::now() < until) {}
}

roost::task<> overruns() {
    for (int i = 0; i < 3; ++i) {
        burn(60ms);
        co_await roost::yield();
    }
}
roost::task<> fails() {
    throw std::runtime_error("unheard");
    co_return;
}
roost::task<int> beats() {
    int n = 0;
    for (; n < 50; ++n) {
        co_await roost::sleep_for(10ms);
    }
    co_return n;
}
roost::task<int> all(roost::scope& s, roost::owned_scope& apart) {
    for (int i = 0; i < 5; ++i) {
        s.launch("overruns", overruns());
        apart.launch("fails", fails());
    }
    co_return co_await beats();
}
roost::task<int> top(roost::owned_scope& apart) { co_return co_await roost::with_scope(all, std::ref(apart)); }

}  // namespace

int main() {
    alarm(110);
    int ends[2];
    if (pipe(ends) != 0) {
        return 77;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const char junk[4096] = {};
    while (write(ends[1], junk, sizeof junk) > 0) {}
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], 2);
    for (const unsigned workers : {1U, 2U}) {
        roost::runtime rt(roost::runtime_options().workers(workers).soft_budget(20ms));
        roost::owned_scope apart(rt, roost::scope_options("apart").report_failures());
        const int n = roost::run(rt, top(apart));
        apart.close_blocking();
        if (n != 50) {
            std::printf("%d beats instead of 50\n", n);
            return 1;
        }
    }
    return 0;
}
