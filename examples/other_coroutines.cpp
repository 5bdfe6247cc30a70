// Roost's waits in a coroutine type of your own: with a deadline, with a stop token, and for a task.

#include <roost/runtime/runtime.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/sleep.hpp>

#include <coroutine>
#include <cstdio>
#include <exception>
#include <latch>
#include <stop_token>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// Starts at once, destroys itself at its end, and is resumed on the runtime that is its first parameter.
class fiber {
public:
    struct promise_type {
        template <class... Args>
        explicit promise_type(runtime& rt, Args&&...) : where_(rt) {}
        fiber get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
        [[nodiscard]] executor_ref get_executor() const noexcept { return where_; }

    private:
        executor_ref where_;
    };
};

task<int> ask_price() {
    co_await sleep_for(1ms);
    co_return 12;
}

struct seen {
    bool is_late = false;
    bool is_stopped = false;
    int price = 0;
};

// begin waits
fiber shop(runtime& rt, event& ready, channel<int>& orders, std::stop_token stop, seen& s, std::latch& over) {
    // A wait with a deadline: what came of it, or wait_status::expired.
    const auto opened = co_await with_deadline(ready.wait(), rt.timers().now() + 5ms);
    s.is_late = opened.status() == wait_status::expired;

    // A wait that a std::stop_token ends. No order is lost: it stays in the channel.
    const auto order = co_await with_stop(orders.receive(), stop);
    s.is_stopped = !order;

    // A task: it becomes a job of its own on that executor.
    s.price = co_await awaitable_on(ask_price(), rt);
    over.count_down();
}
// end waits

}  // namespace

int main() {
    event ready("ready");
    channel<int> orders(4, "orders");
    std::stop_source stop;
    seen s;
    std::latch over(1);
    {
        runtime rt(runtime_options().workers(2));
        shop(rt, ready, orders, stop.get_token(), s, over);
        stop.request_stop();
        over.wait();
    }
    std::printf("late: %s, stopped: %s, price: %d\n", s.is_late ? "yes" : "no", s.is_stopped ? "yes" : "no", s.price);
    return s.is_late && s.is_stopped && s.price == 12 ? 0 : 1;
}
