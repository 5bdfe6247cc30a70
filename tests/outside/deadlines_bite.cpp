// A limit of 20 ms ends loops whose awaits are always ready, on one worker as on two; a result that exists wins.
#include <roost/roost.hpp>

#include <unistd.h>
#include <chrono>
#include <cstdio>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class foreign {
public:
    foreign() noexcept {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
};

task<int> ready() { co_return 1; }
task<int> in_scope(scope&) { co_return 1; }

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
task<> permits() {
    semaphore s(1);
    for (;;) {
        const auto held = co_await s.acquire();
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
task<> foreigners() {
    for (;;) {
        co_await foreign();
    }
}
task<> scopes() {
    for (;;) {
        static_cast<void>(co_await with_scope(in_scope));
    }
}
task<> forks() {
    for (;;) {
        static_cast<void>(co_await when_all(ready(), ready()));
    }
}

using loop_function = task<> (*)();
struct named {
    const char* name;
    loop_function loop;
};
constexpr named loops[] = {{"checkpoint", checkpoints}, {"is_active", asks},    {"task", tasks},          {"mutex", locks},
                           {"semaphore", permits},      {"channel", channels},  {"sleep_for(0)", sleeps}, {"yield", yields},
                           {"foreign", foreigners},     {"with_scope", scopes}, {"when_all", forks}};

void burn(duration d) {
    const time_point until = now() + d;
    while (now() < until) {}
}
bool began = false;
task<int> late_value() {
    began = true;
    burn(50ms);
    co_return 5;
}
task<int> late_checkpoint() {
    burn(50ms);
    co_await checkpoint();
    co_return 5;
}
task<int> late_yield() {
    burn(50ms);
    co_await yield();
    co_return 5;
}

// The children of a scope are part of it: those that the limit does not let run, or ends before the body does, make it late.
task<> naps() { co_await sleep_for(1h); }
task<> launches_late(scope& s) {
    burn(10ms);
    s.launch("too late", naps());
    co_return;
}
task<> returns_late(scope& s) {
    s.launch("cut", naps());
    burn(10ms);
    co_return;
}
task<> too_late() { co_await with_scope(launches_late); }
task<> cut() { co_await with_scope(returns_late); }

const char* where = "";
bool failed = false;
bool verbose = false;

task<> check_all() {
    for (const named& n : loops) {
        const time_point began = now();
        const bool in_time = co_await move_on_after(20ms, n.loop());
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now() - began).count();
        if (verbose || in_time || ms < 20) {
            std::printf("%s, %s: %s after %lld ms\n", where, n.name, in_time ? "returned" : "ended",
                        static_cast<long long>(ms));
            failed = failed || in_time || ms < 20;
        }
        if (ms > 20'000) {  // a busy machine is slow, a limit that does not bite is for ever
            std::printf("%s, %s: the limit of 20 ms was not kept\n", where, n.name);
            failed = true;
        }
    }
    for (int i = 0; i < 10; ++i) {
        const bool launched = co_await move_on_after(2ms, too_late());
        const bool returned = co_await move_on_after(2ms, cut());
        if (launched || returned) {
            std::printf("%s: a scope whose child the limit cancelled is not late\n", where);
            failed = true;
            break;
        }
    }
    auto value = co_await move_on_after(5ms, late_value());
    while (!began) {  // a busy machine: the limit had passed before there was a body
        value = co_await move_on_after(5ms, late_value());
    }
    began = false;
    const auto stopped = co_await move_on_after(5ms, late_checkpoint());
    const auto yielded = co_await move_on_after(5ms, late_yield());
    if (!value || stopped || yielded) {
        std::printf("%s: a late value %s, a late checkpoint %s, a late yield %s\n", where, value ? "wins" : "is lost",
                    stopped ? "goes on" : "ends", yielded ? "goes on" : "ends");
        failed = true;
    }
}

}  // namespace

int main(int argc, char**) {
    alarm(110);
    verbose = argc > 1;
    where = "one worker";
    run(check_all(), runtime_options().workers(1).soft_budget(0s));
    where = "two workers";
    run(check_all(), runtime_options().workers(2).soft_budget(0s));
    return failed ? 1 : 0;
}
