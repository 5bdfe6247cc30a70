#include <roost/asio/async_run.hpp>

#include <roost/asio/use_task.hpp>
#include <roost/runtime/run.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "../task/further.hpp"
#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

namespace {

using namespace roost;
using namespace std::chrono_literals;
namespace net = roost::detail::net;

task<int> soon(int value) {
    co_await sleep_for(1ms);
    co_return value;
}
task<int> fails() {
    co_await yield();
    throw std::runtime_error("no");
}
task<> forever() { co_await sleep_for(1h); }

bool is_aborted(const std::exception_ptr& e) { return e && !detail::is_failure(e); }

TEST(async_run, ASIO_15_a_callback_gets_value_or_error) {
    net::io_context io;
    int got = 0;
    std::exception_ptr error;
    async_run(io, "value", soon(5), [&](std::exception_ptr e, int v) {
        EXPECT_FALSE(e);
        EXPECT_TRUE(io.get_executor().running_in_this_thread());
        got = v;
    });
    async_run(io, "error", fails(), [&](std::exception_ptr e, int) { error = e; });
    io.run();  // kept at work by both
    EXPECT_EQ(got, 5);
    EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
}

TEST(async_run, ASIO_15_any_token) {
    net::io_context io;
    auto future = async_run(io, "future", soon(6), net::use_future);
    int awaited = 0;
    net::co_spawn(
        io, [&]() -> net::awaitable<void> { awaited = co_await async_run(io, "awaited", soon(7), net::use_awaitable); },
        net::detached);
    io.run();
    EXPECT_EQ(future.get(), 6);
    EXPECT_EQ(awaited, 7);
}

TEST(async_run, ASIO_15_on_another_executor_the_handler_comes_home) {
    runtime rt(runtime_options().workers(1));
    net::io_context io;
    int got = 0;
    async_run(rt.get_executor(), "elsewhere", soon(8),
              net::bind_executor(io.get_executor(), [&](std::exception_ptr, int v) { got = v; }));
    io.run();
    EXPECT_EQ(got, 8);
}

TEST(async_run, ASIO_16_the_handlers_slot_cancels_and_stops) {
    net::io_context io;
    net::cancellation_signal cancels;
    net::cancellation_signal stops;
    std::exception_ptr cancelled;
    int stopped = 0;
    async_run(io, "cancelled", forever(),
              net::bind_cancellation_slot(cancels.slot(), [&](std::exception_ptr e) { cancelled = e; }));
    async_run(
        io, "stopped",
        [](net::io_context& c) -> task<int> {
            net::steady_timer t(c, 1h);
            try {
                co_await t.async_wait(use_task);
            } catch (const detail::system_error&) {
                co_return 1;
            }
            co_return 0;
        }(io),
        net::bind_cancellation_slot(stops.slot(), [&](std::exception_ptr, int v) { stopped = v; }));
    io.poll();
    cancels.emit(net::cancellation_type::terminal);
    stops.emit(net::cancellation_type::total);
    io.run();
    EXPECT_TRUE(is_aborted(cancelled));
    EXPECT_EQ(stopped, 1);
    cancels.emit(net::cancellation_type::terminal);  // the slot is empty again
}

TEST(async_run, ASIO_17_waiting_for_a_job_leaves_it_alone) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    event release;
    job j = root.launch("waits", [](event& e) -> task<> { co_await e.wait(); }(release));
    net::cancellation_signal signal;
    bool aborted = false;
    bool joined = false;
    async_run(io_executor::of(io), j,
              net::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { aborted = is_aborted(e); }));
    async_run(io_executor::of(io), j, [&](std::exception_ptr e) { joined = !e; });
    io.poll();
    signal.emit(net::cancellation_type::terminal);
    io.poll();
    EXPECT_TRUE(aborted);
    EXPECT_FALSE(j.is_finished());
    release.set();
    io.poll();
    EXPECT_TRUE(joined);
    root.request_close();
    io.poll();
}

TEST(async_run, ASIO_18_run_returns_or_throws_what_the_task_did) {
    net::io_context io;
    EXPECT_EQ(run(io, soon(9)), 9);
    io.restart();
    EXPECT_THROW(run(io, fails()), std::runtime_error);
    io.restart();
    EXPECT_THROW(run(io,
                     []() -> task<> {
                         job me = co_await this_job();
                         me.cancel();
                         co_await checkpoint();
                     }()),
                 error);
}

TEST(async_run, JOB_85_what_failed_beside_the_outcome_reaches_the_sink) {
    further::listener sink;
    net::io_context io;
    run(io, further::return_with("beside a value"));
    io.restart();
    EXPECT_THROW(run(io, further::fail_twice("thrown", "beside it")), std::runtime_error);
    io.restart();
    std::exception_ptr error;
    async_run(io, "error", further::fail_twice("given", "beside that"), [&](std::exception_ptr e) { error = e; });
    io.run();
    EXPECT_EQ(further::text_of(error), "given");
    EXPECT_EQ(sink.take(), (further::texts{"beside a value", "beside it", "beside that"}));
}

}  // namespace
