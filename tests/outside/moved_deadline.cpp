// A deadline that is moved while it runs, on one worker, on two, and on virtual time: by its body, by a child, by a thread.
#include <roost/roost.hpp>
#include <roost/testing/virtual_time.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

using namespace roost;
using namespace std::chrono_literals;

namespace {

const char* where = "";
bool failed = false;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::printf("%s: %s\n", where, what);
        failed = true;
    }
}

task<int> extends_itself(duration limit, bool& moved) {
    const running_limit mine = co_await this_limit();
    const duration left = mine.remaining();
    moved = mine.extend_by(1h);
    expect(!moved || (left > 0s && left <= limit), "remaining() is not within the limit");
    co_await sleep_for(2 * limit);
    co_return 1;
}
task<int> shortens_itself() {
    const running_limit mine = co_await this_limit();
    expect(mine.set_remaining(5ms), "a running limit was not moved");
    co_await sleep_for(1h);
    co_return 1;
}
task<int> spins_after(duration d) {
    const running_limit mine = co_await this_limit();
    mine.set_remaining(d);
    for (;;) {
        co_await checkpoint();
    }
}
task<> beat(running_limit mine, duration limit, time_point& latest) {
    for (int i = 0; i < 10; ++i) {
        co_await sleep_for(limit / 3);
        if (mine.set_remaining(limit)) {
            latest = mine.deadline();
        }
    }
}
task<int> with_beats(scope& s, duration limit, time_point& latest) {
    const running_limit mine = co_await this_limit();
    s.launch("beat", beat(mine, limit, latest));
    co_return 1;
}
task<int> inner_for_ever() {
    const running_limit mine = co_await this_limit();
    mine.move_to(no_deadline);
    co_await sleep_for(1h);
    co_return 1;
}
task<running_limit> itself() { co_return co_await this_limit(); }

// On a busy machine a limit may pass before its body has begun, or before its next beat. Then a longer one is tried.
constexpr duration shortest = 30ms;
constexpr duration longest = 8s;

task<> check_extended() {
    bool moved = false;
    for (duration limit = shortest; !moved && limit < longest; limit *= 2) {
        const time_point began = co_await this_time();
        const auto longer = co_await move_on_after(limit, extends_itself(limit, moved));
        const time_point ended = co_await this_time();
        expect(moved || ended - began >= limit, "a running limit was not moved");
        expect(!moved || longer.has_value(), "a limit that was extended has passed at its old time");
    }
    expect(moved, "no running limit was moved");
}
task<> check_beaten() {
    bool beaten = false;
    for (duration limit = shortest; !beaten && limit < longest; limit *= 2) {
        time_point latest{};  // the last time to which it was moved
        beaten = (co_await move_on_after(limit, with_scope(with_beats, limit, std::ref(latest)))).has_value();
        const time_point ended = co_await this_time();
        expect(beaten || ended >= latest, "a limit has passed before the time to which it was moved");
    }
    expect(beaten, "a child's progress did not keep the limit away");
}

task<> check_all(bool time_passes) {
    co_await check_extended();
    const auto shorter = co_await move_on_after(1h, shortens_itself());
    expect(!shorter, "a limit that was shortened has not passed");
    if (time_passes) {  // virtual time stands still while a body runs
        const auto spun = co_await move_on_after(1h, spins_after(20ms));
        expect(!spun, "a loop of ready awaits outlived a limit that was moved");
    }
    co_await check_beaten();
    const auto outer = co_await move_on_after(30ms, fail_after(1h, inner_for_ever()));
    expect(!outer, "an inner limit that was moved has moved the outer one");
    const auto over = co_await fail_after(1h, itself());
    expect(!over.extend_by(1s) && !over.has_passed(), "a limit was moved whose body had ended");
}

// Threads move it while it passes: a move that returned true came before that.
task<bool> waits(std::atomic<bool>& there, running_limit& mine, event& moved) {
    mine = co_await this_limit();
    there.store(true);
    co_await moved.wait();
    co_return true;
}
task<> passes_or_not(std::atomic<bool>& there, running_limit& mine, event& moved, std::atomic<int>& result) {
    const auto in_time = co_await move_on_after(100us, waits(there, mine, moved));
    result.store(in_time ? 1 : 2);
}

void race(runtime& rt) {
    int kept = 0;
    for (int i = 0; i < 300; ++i) {
        std::atomic<bool> there{false};
        std::atomic<int> result{0};
        running_limit mine;
        event go;
        owned_scope root(rt, scope_options("root").report_failures());
        root.launch("race", passes_or_not(there, mine, go, result));
        while (!there.load() && result.load() == 0) {
            std::this_thread::yield();
        }
        bool moved = false;
        if (there.load()) {
            while (now() < mine.deadline() - std::chrono::microseconds(i % 20)) {}
            moved = mine.extend_by(1h);
        }
        if (moved) {
            go.set();
        }
        root.close_blocking();
        expect(!moved || result.load() == 1, "a move returned true, and the old time ended the body");
        expect(moved || result.load() == 2, "a limit has passed, and the body was not cancelled");
        kept += moved ? 1 : 0;
    }
    std::printf("%s: %d of 300 moves came in time\n", where, kept);
}

}  // namespace

int main() {
    alarm(110);
    where = "virtual time";
    {
        testing::virtual_time clock;
        owned_scope root(clock, scope_options("root").report_failures());
        root.launch("all", check_all(false));
        root.request_close();
        expect(clock.run_until([&] { return root.is_closed(); }), "the program stands still");
    }
    for (const unsigned workers : {1U, 2U}) {
        where = workers == 1 ? "one worker" : "two workers";
        runtime rt(runtime_options().workers(workers).soft_budget(0s));
        block_on(rt, check_all(true));
        race(rt);
    }
    return failed ? 1 : 0;
}
