// blocking() that runs a task that needs blocking(), deeper than the lane has threads; and thread-locals that end slowly.

#include <roost/roost.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;

roost::runtime* on = nullptr;

roost::task<int> deeper(int n) {
    if (n == 0) {
        co_return 0;
    }
    const int below = co_await roost::blocking([](int left) { return roost::run(*on, deeper(left)); }, n - 1);
    co_return 1 + below;
}

std::atomic<bool> may_end{false};
std::atomic<bool> is_ending{false};
struct per_thread {  // a cached connection, a buffer of a profiler
    bool used = false;
    ~per_thread() {
        if (used) {
            is_ending = true;
            while (!may_end) {
                static_cast<void>(on->blocking().queued());
                std::this_thread::yield();
            }
        }
    }
};
thread_local per_thread cache;

// The lane's thread ends after some seconds without work; the next call must not wait for its thread-locals.
roost::task<> call_again() {
    co_await roost::blocking([] { cache.used = true; });
    while (!is_ending) {
        co_await roost::sleep_for(20ms);
    }
    co_await roost::blocking([] {});
    may_end = true;
}

}  // namespace

int main() {
    alarm(60);
    for (const unsigned workers : {1U, 2U}) {
        roost::runtime rt(roost::runtime_options().workers(workers).blocking_threads(3));
        on = &rt;
        const int depth = roost::run(rt, deeper(8));
        if (depth != 8) {
            std::printf("depth %d instead of 8\n", depth);
            return 1;
        }
    }
    roost::runtime rt(roost::runtime_options().workers(1));
    on = &rt;
    roost::run(rt, call_again());
    return 0;
}
