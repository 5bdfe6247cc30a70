// A hundred thousand scopes, jobs and timeouts inside each other are cancelled from the top, and a million tasks are dropped unrun.
#include <roost/roost.hpp>

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>

using namespace roost;
using namespace std::chrono_literals;

namespace {

constexpr int depth = 100'000;

class bottom {
public:
    event reached;
    event never;
};

task<int> job_level(int left, bottom& b);
task<int> job_body(scope& s, int left, bottom& b) {
    auto below = s.async("level", job_level(left - 1, b));
    const int got = co_await std::move(below);
    co_return got + 1;
}
task<int> job_level(int left, bottom& b) {
    if (left == 0) {
        b.reached.set();
        co_await b.never.wait();
        co_return 0;
    }
    co_return co_await with_scope(job_body, left, std::ref(b));
}
task<int> timeout_level(int left, bottom& b) {
    if (left == 0) {
        b.reached.set();
        co_await b.never.wait();
        co_return 0;
    }
    const int got = co_await fail_after(1h, timeout_level(left - 1, b));
    co_return got + 1;
}
task<> leaf() { co_return; }
task<> nest(task<> inner) { co_await std::move(inner); }

task<bool> cancel_from_the_top(scope& s, bool timeouts) {
    bottom b;
    const job top = s.launch("top", timeouts ? timeout_level(depth, b) : job_level(depth, b));
    co_await b.reached.wait();
    top.cancel(reason(reason_kind::requested, "enough"));
    co_await top.join();
    co_return top.state() == job_state::cancelled&& top.why().text() == "enough";
}
task<bool> nested(bool timeouts) { co_return co_await with_scope(cancel_from_the_top, timeouts); }

}  // namespace

int main() {
    alarm(60);
    for (const bool timeouts : {false, true}) {
        const auto began = std::chrono::steady_clock::now();
        if (!run(nested(timeouts), runtime_options().workers(1))) {
            std::printf("deep_cancel: the job at the top did not end cancelled with its own reason\n");
            return 1;
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        std::printf("deep_cancel: %d %s built and cancelled in %.2f s\n", depth, timeouts ? "timeouts" : "jobs",
                    took.count());
    }
    {
        task<> t = leaf();
        for (int i = 0; i < 1'000'000; ++i) {
            t = nest(std::move(t));
        }
    }
    return 0;
}
