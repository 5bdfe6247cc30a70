// On an io_context with one thread a limit of 20 ms ends loops whose awaits are always ready, also one that a parent has set.
#include <roost/asio/async_run.hpp>
#include <roost/roost.hpp>

#include <boost/asio/io_context.hpp>

#include <unistd.h>
#include <chrono>
#include <cstdio>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<int> ready() { co_return 1; }
task<> checkpoints() {
    for (;;) {
        co_await checkpoint();
    }
}
task<> asks() {
    for (bool go = true; go;) {
        go = co_await is_active();
    }
    co_await checkpoint();
}
task<> tasks() {
    for (;;) {
        static_cast<void>(co_await ready());
    }
}
task<> locks() {
    mutex m;
    for (;;) {
        const auto held = co_await m.lock();
    }
}
task<> channels() {
    channel<int> c(4);
    for (;;) {
        static_cast<void>(co_await c.send(1));
        static_cast<void>(co_await c.receive());
    }
}
task<> sleeps() {
    for (;;) {
        co_await sleep_for(0s);
    }
}
task<> yields() {
    for (;;) {
        co_await yield();
    }
}
task<> child_loops(scope& s) {
    s.launch("loop", checkpoints());
    s.launch("loop", tasks());
    co_return;
}
task<> children() { co_await with_scope(child_loops); }

struct named {
    const char* name;
    task<> (*loop)();
};
constexpr named loops[] = {{"checkpoint", checkpoints}, {"is_active", asks}, {"task", tasks},   {"mutex", locks},
                           {"channel", channels},       {"sleep", sleeps},   {"yield", yields}, {"children", children}};

task<int> check_all(bool verbose) {
    int failed = 0;
    for (const named& n : loops) {
        const time_point began = now();
        const bool in_time = co_await move_on_after(20ms, n.loop());
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now() - began).count();
        if (verbose || in_time || ms < 20 || ms > 20'000) {
            std::printf("%s: %s after %lld ms\n", n.name, in_time ? "returned" : "ended", static_cast<long long>(ms));
            failed += in_time || ms < 20 || ms > 20'000 ? 1 : 0;
        }
    }
    co_return failed;
}

}  // namespace

int main(int argc, char**) {
    alarm(110);
    boost::asio::io_context io;
    return run(io, check_all(argc > 1));
}
