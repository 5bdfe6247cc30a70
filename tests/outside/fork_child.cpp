// Children that are forked while other threads come and go make their own runtime, and do not hang.

#include <roost/roost.hpp>

#include "sanitizers.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(UNDER_TSAN) || defined(UNDER_ASAN)

int main() {
    std::puts(
        "skipped: ThreadSanitizer lets no child of several threads start one; AddressSanitizer's own lock, which an ending "
        "thread takes, stays locked in a child that is forked meanwhile");
    return 77;
}

#else

namespace {
std::atomic<unsigned> unlocks{0};
}

// Makes every lock of the C++ library last longer, so that a fork meets one that is held.
extern "C" int pthread_mutex_unlock(pthread_mutex_t* m) {
    static auto* real = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_unlock"));
    if (unlocks.fetch_add(1) % 10 == 0) {
        usleep(100);
    }
    return real(m);
}

namespace {

roost::task<int> one() {
    co_await roost::sleep_for(std::chrono::microseconds(10));
    co_return 1;
}

}  // namespace

int main() {
    constexpr int forks = 60;
    std::atomic<bool> done{false};
    std::vector<std::thread> churn;
    for (int i = 0; i < 4; ++i) {
        churn.emplace_back([&] {
            while (!done) {
                std::thread([] { const auto held = roost::shutdown("short").guard(); }).join();
            }
        });
    }
    int hung = 0;
    int wrong = 0;
    for (int i = 0; i < forks && hung == 0; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(100);
            _exit(roost::run(one(), roost::runtime_options().workers(1 + static_cast<unsigned>(i % 2))) == 1 ? 0 : 2);
        }
        int status = 0;
        waitpid(child, &status, 0);
        hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? 1 : 0;
        wrong += status != 0 ? 1 : 0;
    }
    done = true;
    for (std::thread& t : churn) {
        t.join();
    }
    if (wrong != 0) {
        std::printf("%d children hung, %d of %d did not end well\n", hung, wrong, forks);
        return 1;
    }
    return 0;
}

#endif
