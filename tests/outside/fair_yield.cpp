// Bodies that compute and yield() leave timers and posts from other threads their turn; yield() goes behind earlier work.
#include <roost/roost.hpp>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

bool verbose = false;
std::atomic<bool> over{false};
std::atomic<int> answered{0};

void burn(duration d) {
    const time_point until = now() + d;
    while (now() < until) {}
}
task<> polite() {
    while (!over) {
        burn(1ms);
        co_await yield();
    }
}
task<> never_waits() {
    while (!over) {
        burn(10us);
        co_await checkpoint();
    }
}
task<> answer() {
    ++answered;
    co_return;
}
task<> sleeper(std::vector<duration>& late) {
    for (int i = 0; i < 20; ++i) {
        const time_point want = now() + 2ms;
        co_await sleep_for(2ms);
        late.push_back(now() - want);
    }
}

bool check(unsigned workers, task<> (*busy)(), const char* what) {
    over = false;
    answered = 0;
    int asked = 0;
    std::vector<duration> late;
    {
        runtime rt(runtime_options().workers(workers).soft_budget(0s));
        owned_scope root(rt, scope_options("root").report_failures());
        for (unsigned i = 0; i < 2 * workers; ++i) {
            root.launch("busy", busy());
        }
        const job slept = root.launch("sleeper", sleeper(late));
        while (!slept.is_finished()) {
            if (asked < 100) {  // no more than are answered soon, on a busy machine as well
                root.launch("answer", answer());
                ++asked;
            }
            std::this_thread::sleep_for(500us);
        }
        for (int i = 0; i < 20'000 && answered < asked; ++i) {  // a busy machine is slow, what starves does so for ever
            std::this_thread::sleep_for(1ms);
        }
        const int in_time = answered;
        over = true;
        root.close_blocking();
        std::sort(late.begin(), late.end());
        const auto median = std::chrono::duration_cast<std::chrono::microseconds>(late[late.size() / 2]).count();
        const bool starves = in_time != asked || median > 5'000'000;
        if (verbose || starves) {
            std::printf("%u worker(s), %s: %d of %d posts answered, timers late by %lld us (median)\n", workers, what,
                        in_time, asked, static_cast<long long>(median));
        }
        if (starves) {
            std::printf("%u worker(s), %s: what comes from outside starves\n", workers, what);
            return false;
        }
    }
    return true;
}

task<> note(std::vector<int>& order, int i) {
    order.push_back(i);
    co_return;
}
task<> yields_behind(scope& s, std::vector<int>& order) {
    for (int i = 0; i < 200; ++i) {
        s.launch("note", note(order, i));
        if (i % 50 == 49) {
            co_await yield();
            order.push_back(-1);
        }
    }
}
task<> ask_order(std::vector<int>& order) { co_await with_scope(yields_behind, std::ref(order)); }

bool check_order() {
    std::vector<int> order;
    run(ask_order(order), runtime_options().workers(1));
    int before = 0;
    for (const int i : order) {
        if (i >= 0) {
            ++before;
        } else if (before % 50 != 0) {
            std::printf("one worker: yield() returned before work that was queued earlier, after %d bodies\n", before);
            return false;
        }
    }
    return order.size() == 204;
}

}  // namespace

int main(int argc, char**) {
    alarm(110);
    verbose = argc > 1;
    bool right = check_order();
    for (const unsigned workers : {1U, 2U}) {
        right = check(workers, polite, "slices of 1 ms and yield()") && right;
        right = check(workers, never_waits, "awaits that are always ready") && right;
    }
    return right ? 0 : 1;
}
