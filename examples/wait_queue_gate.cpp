// A waiter queue in use: a gate that closes and opens for everybody, and a wait that is given up half-way.

#include <roost/sync/interruptible.hpp>
#include <roost/sync/waiter_queue.hpp>

#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stop_token>

namespace {

struct background {
    struct promise_type {
        background get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

class gate {
public:
    void open() {
        is_open_.store(true, std::memory_order_seq_cst);
        waiting_.wake_all();  // exactly those who wait now
    }
    void close() { is_open_.store(false, std::memory_order_seq_cst); }

    auto pass() {
        return waiting_.wait_unless([this] { return is_open_.load(std::memory_order_seq_cst); });
    }
    std::size_t waiting() const { return waiting_.size_approx(); }

private:
    std::atomic<bool> is_open_{false};
    roost::waiter_queue waiting_{"gate"};
};

background cross(gate& g, int& crossed) {
    co_await g.pass();
    ++crossed;
}

// Gives up when asked to. Stop never resumes anything by itself, so it says where: here, on the stopping thread.
background cross_unless_stopped(gate& g, std::stop_token token, roost::executor& where, int& crossed, int& gave_up) {
    auto result = co_await roost::with_stop(g.pass(), token, where);
    (result ? crossed : gave_up) += 1;
}

}  // namespace

int main() {
    gate g;
    int crossed = 0;
    int gave_up = 0;
    roost::ext::inline_executor here;
    std::stop_source stop;

    cross(g, crossed);
    cross_unless_stopped(g, stop.get_token(), here, crossed, gave_up);
    cross(g, crossed);
    std::printf("closed: %zu wait\n", g.waiting());

    stop.request_stop();  // leaves the middle of the queue; the others keep their places
    std::printf("one gave up: %zu wait\n", g.waiting());

    g.open();
    g.close();
    std::printf("opened for a moment: %d crossed, %d gave up, %zu wait\n", crossed, gave_up, g.waiting());
    return crossed == 2 && gave_up == 1 && g.waiting() == 0 ? 0 : 1;
}
