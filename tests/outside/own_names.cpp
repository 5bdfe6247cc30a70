// A user's types stand beside functions that happen to have the names of Roost's own, taking anything: Roost's calls still go to
// Roost's functions, and the user's calls with Roost's types still go to the user's.
#include <roost/roost.hpp>

#include <unistd.h>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace shop {

// What the user's functions return: nothing of Roost can be made of it.
struct own {};

#define OWN(name)                        \
    template <class A>                   \
    own name(A&&) {                      \
        return {};                       \
    }                                    \
    template <class A, class B>          \
    own name(A&&, B&&) {                 \
        return {};                       \
    }                                    \
    template <class A, class B, class C> \
    own name(A&&, B&&, C&&) {            \
        return {};                       \
    }
OWN(get_awaiter)
OWN(suspend_in)
OWN(awaiter_of_kept)
OWN(as_operation)
OWN(as_task)
OWN(as_child_task)
OWN(as_tasks)
OWN(task_of_value)
OWN(task_of_reference)
OWN(as_outcome)
OWN(ask)
OWN(ask_again)
OWN(await_in_task)
OWN(block_on)
OWN(blocking)
OWN(bounce_to)
OWN(cancel)
OWN(collect)
OWN(collect_task)
OWN(drive)
OWN(executor_of)
OWN(fail)
OWN(fail_after)
OWN(finish)
OWN(finish_acquire)
OWN(first_cancellation)
OWN(give)
OWN(interrupted_begin)
OWN(interrupted_end)
OWN(job_of)
OWN(keep_result)
OWN(launch_in)
OWN(leave)
OWN(map_concurrent)
OWN(map_items)
OWN(map_worker)
OWN(move_on_after)
OWN(on)
OWN(outcome_from)
OWN(outcome_of)
OWN(race)
OWN(retry)
OWN(retry_task)
OWN(run)
OWN(run_to_end)
OWN(select)
OWN(shield)
OWN(start_job)
OWN(supervise)
OWN(supervised_child)
OWN(take)
OWN(trace)
OWN(until_stop)
OWN(unwind_frame)
OWN(visit)
OWN(wait)
OWN(wait_in_thread)
OWN(when_all)
OWN(with_value)
OWN(yield)
#undef OWN

struct order {
    explicit order(int n = 0) : number(n) {}
    int number;
};

// An awaitable of the user's own.
struct ticket {
    explicit ticket(int n) : number(n) {}
    int number;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) const {
        std::thread([handle] { handle.resume(); }).detach();
    }
    [[nodiscard]] order await_resume() const noexcept { return order(number); }
};
// One with an operator, and one whose operator stands beside it.
struct booth {
    explicit booth(int n) : number(n) {}
    ticket operator co_await() const noexcept { return ticket(number); }
    int number;
};
struct desk {
    explicit desk(int n) : number(n) {}
    int number;
};
ticket operator co_await(const desk& d) noexcept { return ticket(d.number); }

// Functions that are objects.
struct connect {
    order operator()() const { return order(7); }
};
struct add_one {
    roost::task<order> operator()(order o) const { co_return order(o.number + 1); }
};
struct may_retry {
    bool operator()(const std::exception_ptr&) const { return true; }
};
struct slow_work {
    order operator()(order o) const { return order(o.number * 2); }
};

// A coroutine type of the user's own.
struct fiber {
    struct promise_type {
        fiber get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};
fiber take_turn(roost::mutex& m, roost::channel<order>& from, roost::pool<order>& pool, int& sum) {
    auto held = co_await m.lock();
    auto got = co_await from.receive();
    auto pooled = co_await pool.acquire();
    sum += got->number + pooled->number;
}

roost::task<order> make(int n) { co_return order(n); }
roost::task<order> flaky(std::reference_wrapper<int> attempts, order o) {
    if (++attempts.get() < 2) {
        throw std::runtime_error("not yet");
    }
    co_return o;
}

roost::task<int> children(roost::scope& s, order o) {
    auto first = s.async("first", make(o.number));
    s.launch("second", make(2));
    const order got = co_await std::move(first);
    co_return got.number;
}

// Every call that takes something of the user's.
roost::task<int> all_calls(roost::shutdown server) {
    int sum = 0;
    const order a = co_await ticket(1);
    const order b = co_await booth(2);
    const order c = co_await desk(3);
    const auto d = co_await roost::as_outcome(ticket(4));
    sum += a.number + b.number + c.number + d.value().number;  // 10
    const order in_time = co_await roost::fail_after(10s, make(5));
    const auto maybe = co_await roost::move_on_after(10s, make(6));
    const auto until = co_await roost::until_stop(server.observe(), make(7));
    const order shielded = co_await roost::shield(10s, make(8));
    sum += in_time.number + maybe->number + until->number + shielded.number;  // 36
    const auto [x, y] = co_await roost::when_all(make(1), make(2));
    sum += x.number + y.number;  // 39
    const std::vector<order> items{order(1), order(2)};
    const auto mapped = co_await roost::map_concurrent(items, 2, add_one());
    sum += mapped[0].number + mapped[1].number;  // 44
    int attempts = 0;
    const order again = co_await roost::retry(roost::backoff(), 3, flaky, std::ref(attempts), order(6));
    sum += again.number;  // 50
    const order ten{10};
    const int from_scope = co_await roost::with_scope(children, ten);
    sum += from_scope;  // 60
    const order blocked = co_await roost::blocking(slow_work(), order(5));
    sum += blocked.number;  // 70
    roost::channel<order> queue(4);
    static_cast<void>(queue.try_send(order(10)));
    auto received = co_await server.interrupt(queue.receive());
    sum += (*received)->number;  // 80
    auto guarded = server.guarded(ticket(10));
    const order last = co_await std::move(guarded);
    sum += last.number;  // 90
    const std::vector<order> more{order(4), order(6)};
    for (const order& o : server.interrupt(more)) {
        sum += o.number;  // 100
    }
    co_return sum;
}

// The user's calls with what Roost hands out: the user's functions are the only ones that are found.
roost::task<bool> own_calls(roost::event& e) {
    static_assert(std::is_same_v<decltype(get_awaiter(e.wait())), own>);
    static_assert(std::is_same_v<decltype(suspend_in(e.wait(), 1)), own>);
    static_assert(std::is_same_v<decltype(awaiter_of_kept(e.wait())), own>);
    static_assert(std::is_same_v<decltype(as_operation(e.wait())), own>);
    static_assert(std::is_same_v<decltype(as_task(roost::sleep_for(1ms))), own>);
    static_assert(std::is_same_v<decltype(first_cancellation(std::vector<roost::job>())), own>);
    static_assert(std::is_same_v<decltype(task_of_value(roost::sleep_for(1ms))), own>);
    static_assert(std::is_same_v<decltype(as_child_task(roost::sleep_for(1ms))), own>);
    static_assert(std::is_same_v<decltype(interrupted_end(e)), own>);
    co_return true;
}

}  // namespace shop

int main() {
    ::alarm(60);
    const int sum = roost::run(shop::all_calls(roost::shutdown("server")));
    roost::event e;
    const bool own = roost::run(shop::own_calls(e));

    roost::mutex m;
    roost::channel<shop::order> orders(1);
    roost::pool<shop::order> pool(roost::pool_options(1, "pool"), shop::connect());
    int taken = 0;
    shop::take_turn(m, orders, pool, taken);
    static_cast<void>(orders.try_send(shop::order(3)));
    if (sum != 100 || !own || taken != 10) {
        std::printf("a sum of %d, taken %d\n", sum, taken);
        return 1;
    }
    return 0;
}
