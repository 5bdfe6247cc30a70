// A thread of another library wakes the last task of an io_context, which then goes: that thread must be out of it.
//
// The thread is slow where Asio takes a lock for it, so that a post which is not over when its work runs is seen every time.

#include <roost/asio/async_run.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include "../sanitizers.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#if defined(UNDER_TSAN)

int main() {
    std::puts("skipped: ThreadSanitizer has its own pthread_mutex_lock, which this program would replace");
    return 77;
}

#else

namespace {

std::atomic<bool> context_is_gone{false};
std::atomic<int> touched_late{0};
thread_local bool is_slow = false;

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* m) {
    static auto* real = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    if (is_slow) {
        is_slow = false;
        usleep(50'000);
        touched_late += context_is_gone ? 1 : 0;
        is_slow = true;
    }
    return real(m);
}

namespace {

using namespace std::chrono_literals;

std::atomic<bool> burning{false};

roost::task<> waits(roost::event& e) { co_await e.wait(); }
roost::task<> keeps_the_context_awake() {
    co_await roost::sleep_for(5ms);  // nothing else is queued when it goes on
    burning = true;
    const auto until = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < until) {}
    co_return;
}
roost::task<> both(roost::scope& s, roost::event& e) {
    s.launch("waits", waits(e));
    s.launch("burns", keeps_the_context_awake());
    co_return;
}
roost::task<> top(roost::event& e) { co_await roost::with_scope(both, std::ref(e)); }

}  // namespace

int main() {
    alarm(110);
    for (int i = 0; i < 10; ++i) {
        burning = false;
        context_is_gone = false;
        roost::event e;
        std::thread other([&] {
            while (!burning) {
                std::this_thread::yield();
            }
            is_slow = true;
            e.set();
            is_slow = false;
        });
        {
            auto io = std::make_unique<boost::asio::io_context>();
            roost::run(*io, top(e));
            io.reset();
            context_is_gone = true;
        }
        other.join();
    }
    if (touched_late != 0) {
        std::printf("the waking thread was inside an io_context that was gone, %d times\n", touched_late.load());
        return 1;
    }
    return 0;
}

#endif
