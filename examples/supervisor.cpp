// A supervisor: feeds that fail are started again, after a growing pause, and the others never notice.

#include <roost/flow/supervise.hpp>
#include <roost/roost.hpp>

#include <cstdio>
#include <stdexcept>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class feed {
public:
    const char* name = "";
    int failures_left = 0;
    int items = 0;
};

task<> poll(feed& f) {
    while (f.items < 3) {
        co_await sleep_for(1ms);
        if (f.failures_left > 0) {
            --f.failures_left;
            throw std::runtime_error("connection lost");
        }
        ++f.items;
    }
}

task<> poll_all(supervisor& s, feed& steady, feed& shaky) {
    s.launch(steady.name, poll, std::ref(steady));
    s.launch(shaky.name, poll, std::ref(shaky));
    co_return;
}

task<int> serve() {
    feed steady;
    steady.name = "steady";
    feed shaky;
    shaky.name = "shaky";
    shaky.failures_left = 2;

    const on_failure again = on_failure::restart(backoff(1ms).jitter(0.5), 5);
    supervised<void> ended = co_await supervise(again, poll_all, std::ref(steady), std::ref(shaky));

    for (const child_failure& f : ended.failures()) {
        std::printf("%s failed at attempt %u\n", f.name().c_str(), f.attempt());
    }
    std::printf("%zu feeds completed after %zu restarts\n", ended.counts().completed, ended.counts().restarts);
    co_return ended.counts().completed == 2 && ended.counts().restarts == 2 ? 0 : 1;
}

}  // namespace

int main() { return run(serve()); }
