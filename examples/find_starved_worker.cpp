// A body that keeps its worker. The runtime names it while it runs; the recording shows everything that waited behind it.

#include <roost/roost.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

void resize_image() {  // computes for 200 ms
    const auto end = std::chrono::steady_clock::now() + 200ms;
    while (std::chrono::steady_clock::now() < end) {}
}

task<> thumbnail() {
    co_await sleep_for(1ms);
    resize_image();
}
task<> ping() { co_await sleep_for(1ms); }

task<> serve(scope& s) {
    s.launch("thumbnail", thumbnail());
    for (int i = 0; i < 50; ++i) {
        co_await sleep_for(5ms);
        s.launch("ping", ping());
    }
}

std::mutex lock;
std::string stall;
void heard(const observe::overrun& what, void*) noexcept {
    if (what.name() == "thumbnail") {  // on a busy machine others may be late, too
        const std::scoped_lock held(lock);
        stall = what.to_string();
    }
}

}  // namespace

int main() {
    observe::recorder::start();
    {
        runtime rt(runtime_options().workers(1).soft_budget(50ms).on_overrun(heard));
        block_on(rt, with_scope(serve));
    }
    const std::string trace = observe::to_chrome_trace(observe::recorder::snapshot());
    std::printf("%s\n%zu bytes of trace for ui.perfetto.dev\n", stall.c_str(), trace.size());
    const bool is_named = stall.find("'thumbnail' (") != std::string::npos;
    return is_named && trace.find("thumbnail") != std::string::npos ? 0 : 1;
}
