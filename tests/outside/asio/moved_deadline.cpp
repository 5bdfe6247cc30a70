// A deadline that is moved while it runs, on an io_context: by its body, by a child, and by another thread.
#include <roost/asio/async_run.hpp>
#include <roost/roost.hpp>

#include <boost/asio/io_context.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdio>
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

task<int> extends_itself() {
    const running_limit mine = co_await this_limit();
    expect(mine.extend_by(1h), "a running limit was not moved");
    co_await sleep_for(60ms);
    co_return 1;
}
task<int> spins() {
    const running_limit mine = co_await this_limit();
    expect(mine.set_remaining(5ms), "a running limit was not moved");
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
task<int> moved_by(std::thread& other) {
    const running_limit mine = co_await this_limit();
    other = std::thread([mine] { expect(mine.move_to(time_point()), "a thread could not move a running limit"); });
    co_await sleep_for(1h);
    co_return 1;
}
task<int> check_all() {
    const auto longer = co_await move_on_after(30ms, extends_itself());
    expect(longer.has_value(), "a limit that was extended has passed at its old time");
    const auto spun = co_await move_on_after(1h, spins());
    expect(!spun, "a loop of ready awaits outlived a limit that was moved");
    const auto beaten = co_await move_on_after(30ms, with_scope(with_beats));
    expect(beaten.has_value(), "a child's progress did not keep the limit away");
    std::thread other;
    const auto passed = co_await move_on_after(1h, moved_by(other));
    other.join();  // roost-lint: allow(blocking-call): its last act was the move that ended the wait
    expect(!passed, "a limit that was moved into the past has not passed");
    co_return failed ? 1 : 0;
}

}  // namespace

int main() {
    alarm(60);
    boost::asio::io_context io;
    return run(io, check_all());
}
