// Races: the first to end, and the first to succeed. When they are over, nothing of the losers runs any more.

#include <roost/flow/race.hpp>
#include <roost/roost.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

std::atomic<int> running{0};  // several workers

class counted {
public:
    counted() { ++running; }
    ~counted() { --running; }
};

task<std::string> ask(const char* replica, duration takes, bool works) {
    const counted me;
    co_await sleep_for(takes);
    if (!works) {
        throw std::runtime_error(std::string(replica) + " is down");
    }
    co_return replica;
}

task<int> read() {
    winner<std::string> first = co_await race(ask("north", 1h, true), ask("south", 1ms, true));
    std::printf("%s was first, %d still running\n", first.value().c_str(), running.load());

    auto good = co_await first_success(ask("east", 1ms, false), ask("west", 5ms, true));
    std::printf("%s succeeded after %zu failure(s)\n", good.value().c_str(), good.others().size());

    std::size_t failed = 0;
    try {
        auto none = co_await first_success(ask("up", 1ms, false), ask("down", 1ms, false));
        std::printf("%s?\n", none.value().c_str());
    } catch (const all_failed& e) {
        std::printf("%s\n", e.what());
        failed = e.errors().size();
    }
    co_return first.index() == 1 && good.index() == 1 && failed == 2 && running == 0 ? 0 : 1;
}

}  // namespace

int main() { return run(read()); }
