// A deadline that is moved while it runs, on an io_context: by its body, by a child, and by another thread.
#include <roost/asio/async_run.hpp>
#include <roost/roost.hpp>

#include <boost/asio/io_context.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

using namespace roost;
using namespace std::chrono_literals;

namespace {

bool failed = false;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::printf("%s\n", what);
        failed = true;
    }
}

task<int> extends_itself(duration limit, bool& moved) {
    const running_limit mine = co_await this_limit();
    moved = mine.extend_by(1h);
    co_await sleep_for(2 * limit);
    co_return 1;
}
task<int> spins() {
    const running_limit mine = co_await this_limit();
    expect(mine.set_remaining(5ms), "a running limit was not moved");
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
task<int> moved_by(std::thread& other) {
    const running_limit mine = co_await this_limit();
    other = std::thread([mine] { expect(mine.move_to(time_point()), "a thread could not move a running limit"); });
    co_await sleep_for(1h);
    co_return 1;
}
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
task<int> check_all() {
    co_await check_extended();
    const auto spun = co_await move_on_after(1h, spins());
    expect(!spun, "a loop of ready awaits outlived a limit that was moved");
    co_await check_beaten();
    std::thread other;
    const auto passed = co_await move_on_after(1h, moved_by(other));
    other.join();  // roost-lint: allow(blocking-call): its last act was the move that ended the wait
    expect(!passed, "a limit that was moved into the past has not passed");
    co_return failed ? 1 : 0;
}

}  // namespace

int main() {
    alarm(110);
    boost::asio::io_context io;
    return run(io, check_all());
}
