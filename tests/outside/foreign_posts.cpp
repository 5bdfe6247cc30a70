// Threads of other libraries wake the last task of a runtime or loop, which then goes; several of them end it at once.

#include <roost/roost.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

std::atomic<bool> waiting{false};
std::atomic<bool> woken{false};

roost::task<> waits(roost::event& e) {
    waiting = true;
    co_await e.wait();
    woken = true;
}
roost::task<> keeps_a_worker_awake() {
    for (int i = 0; i < 100'000 && !woken; ++i) {
        co_await roost::yield();
    }
}
roost::task<> both(roost::scope& s, roost::event& e) {
    s.launch("waits", waits(e));
    s.launch("yields", keeps_a_worker_awake());
    co_return;
}
roost::task<> top(roost::event& e) { co_await roost::with_scope(both, std::ref(e)); }

void wake_the_last_task(unsigned workers, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        waiting = woken = false;
        roost::event e;
        std::thread other([&] {
            while (!waiting) {
                std::this_thread::yield();
            }
            for (std::atomic<int> k = (i * 79) % 3000; k > 0; --k) {}
            e.set();
        });
        roost::run(top(e), roost::runtime_options().workers(workers));
        other.join();
    }
}

void stop_a_loop(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        auto loop = std::make_unique<roost::loop>();
        std::thread other([&at = *loop] { at.stop(); });
        loop->run();
        loop.reset();
        other.join();
    }
}

int end_from_many(unsigned workers, int rounds) {
    std::atomic<int> wrong{0};
    for (int i = 0; i < rounds; ++i) {
        auto rt = std::make_unique<roost::runtime>(roost::runtime_options().workers(workers));
        std::vector<std::thread> enders;
        for (int k = 0; k < 3; ++k) {
            enders.emplace_back([&] {
                rt->shut_down();
                struct never : roost::ext::work {
                    never() : work(+[](roost::ext::work&) noexcept {}) {}
                } w;
                wrong += rt->post(w) ? 1 : 0;  // every caller returns to a runtime that has ended
            });
        }
        for (std::thread& t : enders) {
            t.join();
        }
    }
    return wrong;
}

}  // namespace

int main() {
    alarm(100);
    wake_the_last_task(1, 150);
    wake_the_last_task(2, 150);
    stop_a_loop(1000);
    if (const int wrong = end_from_many(1, 30) + end_from_many(2, 30)) {
        std::printf("%d callers of shut_down() returned before the runtime had ended\n", wrong);
        return 1;
    }
    return 0;
}
