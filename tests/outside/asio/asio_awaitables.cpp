// Roost's tasks await Asio's awaitables and the other way: values, exceptions and cancellation go through in both directions.
#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/roost.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace net = boost::asio;
using namespace std::chrono_literals;
using roost::task;
using roost::use_task;

int frames = 0;
struct counted {
    counted() { ++frames; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --frames; }
};

// --- Asio's own coroutines -----------------------------------------------------------------------------------------------------

net::awaitable<int> asio_value(int n) {
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    co_await timer.async_wait(net::use_awaitable);
    co_return n;
}
net::awaitable<int> asio_failure() {
    co_await asio_value(0);
    throw std::runtime_error("from Asio");
}
net::awaitable<void> asio_for_ever() {
    const counted here;
    net::steady_timer timer(co_await net::this_coro::executor, 1h);
    co_await timer.async_wait(net::use_awaitable);
}

// --- Roost's tasks ---------------------------------------------------------------------------------------------------------------

task<int> roost_value(int n) {
    co_await roost::sleep_for(1ms);
    co_return n;
}
task<int> roost_failure() {
    co_await roost_value(0);
    throw std::runtime_error("from Roost");
}
task<int> roost_for_ever() {
    const counted here;
    co_await roost::sleep_for(1h);
    co_return 0;
}

// --- a task that awaits Asio -----------------------------------------------------------------------------------------------------

task<std::string> task_awaits(net::io_context& io) {
    // begin in_task
    const int value = co_await net::co_spawn(io, asio_value(7), use_task);
    // end in_task
    if (value != 7) {
        co_return "an awaitable's value did not arrive";
    }
    std::string caught;
    try {
        co_await net::co_spawn(io, asio_failure(), use_task);
    } catch (const std::runtime_error& e) {
        caught = e.what();
    }
    if (caught != "from Asio") {
        co_return "an awaitable's exception did not arrive";
    }
    const bool in_time = co_await roost::move_on_after(5ms, net::co_spawn(io, asio_for_ever(), use_task));
    if (in_time || frames != 0) {
        co_return "a deadline did not end the awaitable";
    }
    co_return "";
}

// --- an awaitable that awaits tasks ----------------------------------------------------------------------------------------------

net::awaitable<std::string> asio_awaits(net::io_context& io) {
    using namespace net::experimental::awaitable_operators;
    // begin in_awaitable
    const int value = co_await roost::async_run(io, "value", roost_value(8), net::use_awaitable);
    // end in_awaitable
    if (value != 8) {
        co_return "a task's value did not arrive";
    }
    std::string caught;
    try {
        co_await roost::async_run(io, "failure", roost_failure(), net::use_awaitable);
    } catch (const std::runtime_error& e) {
        caught = e.what();
    }
    if (caught != "from Roost") {
        co_return "a task's exception did not arrive";
    }
    net::steady_timer timer(io, 5ms);
    const auto first = co_await (roost::async_run(io, "for ever", roost_for_ever(), net::use_awaitable) ||
                                 timer.async_wait(net::use_awaitable));
    if (first.index() != 1 || frames != 0) {
        co_return "a timer did not cancel the task";
    }
    co_return "";
}

int main() {
    ::alarm(60);
    net::io_context io;
    std::string why = roost::run(io, task_awaits(io));
    io.restart();
    net::co_spawn(io, asio_awaits(io), [&why](const std::exception_ptr& error, const std::string& text) {
        why += error ? "the awaitable failed" : text;
    });
    io.run();

    // The same from a runtime: the awaitable runs on the context, and the task comes back to its worker.
    io.restart();
    auto guard = net::make_work_guard(io);
    std::thread runs([&io] { io.run(); });
    why += roost::run(task_awaits(io));
    guard.reset();
    runs.join();
    if (!why.empty()) {
        std::puts(why.c_str());
    }
    return why.empty() ? 0 : 1;
}
