// A coroutine type that knows no executor: its waits end by a stop token or a deadline on the runtime that is passed to them. And the
// entries of a report that nothing holds.
#include <roost/roost.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stop_token>
#include <thread>

using namespace std::chrono_literals;

namespace {

// Starts at once and destroys itself at its end.
class plain {
public:
    struct promise_type {
        plain get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

std::atomic<int> ended{0};

plain lock_until_stopped(roost::runtime& rt, roost::mutex& held, std::stop_token token, bool& is_right) {
    const auto got = co_await roost::with_stop(held.lock(), token, rt);
    is_right = !got && got.status() == roost::wait_status::cancelled;
    ++ended;
}
plain wait_until_deadline(roost::runtime& rt, roost::event& never, bool& is_right) {
    const auto got = co_await roost::with_deadline(never.wait(), roost::now() + 20ms, rt);
    is_right = !got && got.status() == roost::wait_status::expired;
    ++ended;
}

std::size_t guards_in_report(const roost::shutdown& s) {
    std::size_t found = 0;
    for (const roost::observe::report_entry& e : s.report().entries()) {
        found += e.count();
    }
    return found;
}

}  // namespace

int main() {
    roost::runtime rt(roost::runtime_options().workers(1));
    roost::mutex held;
    roost::event never;
    std::stop_source source;
    bool is_stopped = false;
    bool is_expired = false;
    const auto lock = held.lock_blocking();
    lock_until_stopped(rt, held, source.get_token(), is_stopped);
    wait_until_deadline(rt, never, is_expired);
    source.request_stop();
    while (ended != 2) {
        std::this_thread::yield();
    }
    const roost::shutdown server("server");
    const auto first = server.guard();
    const auto second = server.guard();
    const std::size_t found = guards_in_report(server);
    std::printf("stopped %d, expired %d, guards %zu\n", is_stopped, is_expired, found);
    return is_stopped && is_expired && found == 2 ? 0 : 1;
}
