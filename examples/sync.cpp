// The primitives that coroutines and threads share: a mutex, a semaphore, an event, a channel, and waits with a limit.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>
#include <thread>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin lock
class accounts {
public:
    task<> deposit(int amount) {
        const auto held = co_await lock_.lock();  // `held` releases the mutex; without co_await nothing is locked
        total_ += amount;
    }
    // The same mutex from a plain thread.
    int total() {
        const auto held = lock_.lock_blocking();
        return total_;
    }

private:
    mutex lock_{"accounts"};
    int total_ = 0;
};
// end lock

// begin limit
// At most two at a time; the others wait in the order in which they came.
task<> call_backend(semaphore& slots, int& calls) {
    const auto slot = co_await slots.acquire();
    co_await sleep_for(1ms);
    ++calls;
}
// end limit

// begin channel
task<> produce(channel<std::string>& lines) {
    for (int i = 0; i < 3; ++i) {
        const auto sent = co_await lines.send("line " + std::to_string(i));
        if (!sent) {
            co_return;  // closed: the value is still in `sent`
        }
    }
    lines.close();
}
task<int> consume(channel<std::string>& lines) {
    int count = 0;
    for (;;) {
        const auto line = co_await lines.receive();
        if (!line) {
            co_return count;  // closed and empty
        }
        ++count;
    }
}
// end channel

// begin wait
task<bool> wait_a_little(event& ready) {
    const bool came = co_await move_on_after(5ms, ready.wait());  // false: the time passed, and nothing was taken
    co_return came;
}
// end wait

// begin broadcast
// Every subscriber receives every value. One that falls behind misses the oldest.
task<int> watch_prices(broadcast<int>::subscriber& mine) {
    int missed = 0;
    for (;;) {
        const broadcast_item<int> price = co_await mine.receive();
        if (!price) {
            co_return missed;  // closed
        }
        missed += static_cast<int>(price.missed());
    }
}
// end broadcast

task<int> send_prices() {
    broadcast<int> prices(2, "prices");
    auto mine = prices.subscribe();
    for (int i = 0; i < 5; ++i) {
        prices.send(i);
    }
    prices.close();
    co_return co_await watch_prices(mine);
}

task<bool> all(scope& s) {
    accounts a;
    semaphore slots(2, "backend", fairness::hand_off);  // the default; barging lets running threads overtake parked ones
    channel<std::string> lines(2, "lines");
    event ready("ready");
    int calls = 0;
    co_await when_all(a.deposit(1), a.deposit(2));
    co_await when_all(call_backend(slots, calls), call_backend(slots, calls), call_backend(slots, calls));
    s.launch("produce", produce(lines));
    const int received = co_await consume(lines);
    const bool early = co_await wait_a_little(ready);
    const std::jthread other([&ready] { ready.set(); });  // wakes coroutines and threads alike
    co_await ready.wait();
    const int missed = co_await send_prices();
    std::printf("total %d, calls %d, lines %d, early %d, missed %d\n", a.total(), calls, received, early ? 1 : 0, missed);
    co_return a.total() == 3 && calls == 3 && received == 3 && !early && missed == 3;
}

}  // namespace

int main() { return run(with_scope(all)) ? 0 : 1; }
