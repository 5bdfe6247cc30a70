// A deadline that is moved while it runs, on one worker, on two, and on virtual time: by its body, by a child, by a thread.
#include <roost/roost.hpp>
#include <roost/testing/virtual_time.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdio>
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

task<int> extends_itself() {
    const running_limit mine = co_await this_limit();
    expect(mine.remaining() > 0s && mine.remaining() <= 30ms, "remaining() is not within the limit");
    expect(mine.extend_by(1h), "a running limit was not moved");
    co_await sleep_for(60ms);
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
task<> beat(running_limit mine) {
    for (int i = 0; i < 10; ++i) {
        co_await sleep_for(10ms);
        mine.set_remaining(30ms);
    }
}
task<int> with_beats(scope& s) {
    const running_limit mine = co_await this_limit();
    s.launch("beat", beat(mine));
    co_return 1;
}
task<int> inner_for_ever() {
    const running_limit mine = co_await this_limit();
    mine.move_to(no_deadline);
    co_await sleep_for(1h);
    co_return 1;
}
task<running_limit> itself() { co_return co_await this_limit(); }

task<> check_all(bool time_passes) {
    const auto longer = co_await move_on_after(30ms, extends_itself());
    expect(longer.has_value(), "a limit that was extended has passed at its old time");
    const auto shorter = co_await move_on_after(1h, shortens_itself());
    expect(!shorter, "a limit that was shortened has not passed");
    if (time_passes) {  // virtual time stands still while a body runs
        const auto spun = co_await move_on_after(1h, spins_after(20ms));
        expect(!spun, "a loop of ready awaits outlived a limit that was moved");
    }
    const auto beaten = co_await move_on_after(30ms, with_scope(with_beats));
    expect(beaten.has_value(), "a child's progress did not keep the limit away");
    const auto outer = co_await move_on_after(30ms, fail_after(1h, inner_for_ever()));
    expect(!outer, "an inner limit that was moved has moved the outer one");
    const auto over = co_await fail_after(1h, itself());
    expect(!over.extend_by(1s) && !over.has_passed(), "a limit was moved whose body had ended");
}

// Threads move it while it passes: a move that returned true came before that.
task<bool> waits(std::atomic<bool>& there, running_limit& mine) {
    mine = co_await this_limit();
    there.store(true);
    co_await sleep_for(200us);
    co_return true;
}
task<> passes_or_not(std::atomic<bool>& there, running_limit& mine, std::atomic<int>& result) {
    const auto in_time = co_await move_on_after(100us, waits(there, mine));
    result.store(in_time ? 1 : 2);
}

void race(runtime& rt) {
    int kept = 0;
    for (int i = 0; i < 300; ++i) {
        std::atomic<bool> there{false};
        std::atomic<int> result{0};
        running_limit mine;
        owned_scope root(rt, scope_options("root").report_failures());
        root.launch("race", passes_or_not(there, mine, result));
        while (!there.load() && result.load() == 0) {
            std::this_thread::yield();
        }
        bool moved = false;
        if (there.load()) {
            while (now() < mine.deadline() - std::chrono::microseconds(i % 20)) {}
            moved = mine.extend_by(1h);
        }
        root.close_blocking();
        expect(!moved || result.load() == 1, "a move returned true, and the old time ended the body");
        expect(moved || result.load() == 2 || !mine.has_passed(), "a limit has passed, and the body was not cancelled");
        kept += moved ? 1 : 0;
    }
    std::printf("%s: %d of 300 moves came in time\n", where, kept);
}

}  // namespace

int main() {
    alarm(60);
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
