#include <roost/asio/use_task.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "all_of_asio.hpp"
#include "by_hand.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace roost;
using namespace roost::seam;
using asio_testing::await_by_hand;
using asio_testing::by_hand;
using asio_testing::initiate;
using namespace std::chrono_literals;
namespace net = roost::detail::net;
using local_socket = net::local::stream_protocol::socket;

static_assert(!std::is_copy_constructible_v<detail::use_task_handler<>>);
static_assert(std::is_nothrow_move_constructible_v<detail::use_task_handler<detail::error_code>>);

struct pair_of_sockets {
    explicit pair_of_sockets(net::io_context& io) : a(io), b(io) { net::local::connect_pair(a, b); }
    local_socket a;
    local_socket b;
};

TEST(use_task, ASIO_1_results_come_back_as_values) {
    net::io_context io;
    pair_of_sockets sockets(io);
    const std::string got = run(io, [](pair_of_sockets& s) -> task<std::string> {
        std::size_t written = co_await net::async_write(s.a, net::buffer("hello", 5), use_task);
        EXPECT_EQ(written, 5U);
        std::string text(5, ' ');
        std::size_t n = co_await net::async_read(s.b, net::buffer(text), use_task);
        EXPECT_EQ(n, 5U);
        net::steady_timer t(s.a.get_executor(), 1ms);
        co_await t.async_wait(use_task);
        co_return text;
    }(sockets));
    EXPECT_EQ(got, "hello");
}

TEST(use_task, ASIO_2_errors_are_thrown_or_adapted) {
    net::io_context io;
    pair_of_sockets sockets(io);
    sockets.a.close();
    run(io, [](pair_of_sockets& s) -> task<> {
        char c = 0;
        bool thrown = false;
        try {
            co_await s.b.async_read_some(net::buffer(&c, 1), use_task);
        } catch (const detail::system_error& e) {
            thrown = e.code() == net::error::eof;
        }
        EXPECT_TRUE(thrown);
        auto [ec, n] = co_await s.b.async_read_some(net::buffer(&c, 1), net::as_tuple(use_task));
        EXPECT_EQ(ec, net::error::eof);
        EXPECT_EQ(n, 0U);
    }(sockets));
}

TEST(use_task, ASIO_2_several_results_are_a_tuple) {
    net::io_context io;
    const auto got = run(io, []() -> task<std::tuple<int, std::string>> {
        auto op = [](auto token) {
            return net::async_initiate<decltype(token), void(detail::error_code, int, std::string)>(
                [](auto handler) { std::move(handler)(detail::error_code(), 7, std::string("seven")); }, token);
        };
        co_return co_await op(use_task);
    }());
    EXPECT_EQ(std::get<0>(got), 7);
    EXPECT_EQ(std::get<1>(got), "seven");
}

TEST(use_task, ASIO_3_begins_when_awaited_and_not_when_cancelled) {
    net::io_context io;
    by_hand op;
    {
        auto call = op(use_task);
        EXPECT_EQ(op.begun, 0);
    }
    EXPECT_EQ(op.begun, 0);
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    job j = root.launch("cancelled", [](by_hand& o) -> task<> {
        job me = co_await this_job();
        me.cancel();
        co_await o(use_task);
    }(op));
    root.request_close();
    io.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(op.begun, 0);
}

TEST(use_task, ASIO_4_cancel_is_terminal_and_waits_for_the_operation) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    by_hand op;
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    auto j = root.async("op", await_by_hand(op));
    io.poll();
    ASSERT_EQ(op.begun, 1);
    j.cancel();
    EXPECT_EQ(op.signals, 0);  // posted, never inside cancel()
    io.poll();
    EXPECT_EQ(op.signals, 1);
    EXPECT_EQ(op.last, net::cancellation_type::terminal);
    EXPECT_FALSE(is_final(j.state()));  // the handler is still out
    op.complete(net::error::operation_aborted, 0);
    io.poll();
    EXPECT_EQ(j.state(), job_state::cancelled);
    root.request_close();
    io.poll();
}

TEST(use_task, ASIO_4_a_real_operation_ends_at_once) {
    net::io_context io;
    pair_of_sockets sockets(io);
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    std::string text(5, ' ');
    job reads = root.launch("read", [](local_socket& s, std::string& into) -> task<> {
        co_await net::async_read(s, net::buffer(into), use_task);
    }(sockets.b, text));
    root.launch("cancel", [](job j) -> task<> {
        co_await sleep_for(1ms);
        j.cancel();
    }(reads));
    root.request_close();
    io.run();
    EXPECT_EQ(reads.state(), job_state::cancelled);
}

TEST(use_task, ASIO_5_a_result_after_a_cancel_of_the_job_is_destroyed) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    {
        by_hand op;  // the handler first: delivered, cancelled at the next await
        int got = 0;
        auto j = root.async("first", [](by_hand& o, int& value) -> task<> {
            value = co_await o(use_task);
            co_await sleep_for(1h);
        }(op, got));
        io.poll();
        // From outside the context, so that the body has not run on yet when the cancel comes.
        op.complete({}, 3);
        j.cancel();
        io.poll();
        EXPECT_EQ(got, 3);
        EXPECT_EQ(op.signals, 0);
        EXPECT_EQ(j.state(), job_state::cancelled);
    }
    {
        by_hand op;  // the cancel first: a result that comes all the same is destroyed
        bool after = false;
        auto j = root.async("second", [](by_hand& o, bool& reached) -> task<> {
            co_await o(use_task);
            reached = true;
        }(op, after));
        io.poll();
        j.cancel();
        op.complete({}, 3);
        io.poll();
        EXPECT_FALSE(after);
        EXPECT_EQ(j.state(), job_state::cancelled);
        EXPECT_EQ(op.signals, 0);  // the emission found the operation ended
    }
    root.request_close();
    io.poll();
}

using failing_handler = detail::use_task_handler<std::exception_ptr>;

task<> await_failing(std::optional<failing_handler>& held) {
    co_await initiate<void(std::exception_ptr)>([&](auto h) { held.emplace(std::move(h)); }, use_task);
}

TEST(use_task, ASIO_5_an_exception_outranks_the_cancel_unless_it_is_its_echo) {
    const failure_sink before =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    for (const bool is_echo : {false, true}) {
        net::io_context io;
        auto guard = net::make_work_guard(io);
        owned_scope root(io_executor::of(io), scope_options("root").report_failures());
        std::optional<failing_handler> held;
        job j = root.launch("op", await_failing(held));
        io.poll();
        j.cancel();
        io.poll();
        std::exception_ptr what = std::make_exception_ptr(std::runtime_error("disk"));
        if (is_echo) {
            what = std::make_exception_ptr(detail::system_error(net::error::operation_aborted));
        }
        (*held)(what);
        root.request_close();
        io.poll();
        EXPECT_EQ(j.state(), is_echo ? job_state::cancelled : job_state::failed);
    }
    set_failure_sink(before);
}

TEST(use_task, ASIO_6_stop_is_total) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    by_hand plain;
    by_hand through;
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    auto a = root.async("plain", await_by_hand(plain));
    auto b = root.async("through", await_by_hand(through, use_task.through_stop()));
    io.poll();
    root.tree_node().stop();
    io.poll();
    EXPECT_EQ(plain.signals, 1);
    EXPECT_EQ(plain.last, net::cancellation_type::total);
    EXPECT_EQ(through.signals, 0);
    a.cancel();
    b.cancel();
    io.poll();
    EXPECT_EQ(plain.signals, 2);
    EXPECT_EQ(plain.last, net::cancellation_type::terminal);
    EXPECT_EQ(through.last, net::cancellation_type::terminal);
    plain.complete({}, 1);
    through.complete({}, 1);
    root.request_close();
    io.poll();
    EXPECT_TRUE(root.is_closed());
}

TEST(use_task, ASIO_6_stop_ends_a_wait_also_one_that_begins_later) {
    net::io_context io;
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    int aborted = 0;
    root.launch("waits", [](net::io_context& c, int& count) -> task<> {
        for (int i = 0; i < 2; ++i) {
            net::steady_timer t(c, 1h);
            auto [ec] = co_await t.async_wait(net::as_tuple(use_task));
            count += ec == net::error::operation_aborted ? 1 : 0;
        }
    }(io, aborted));
    io.poll();
    root.tree_node().stop();
    root.request_close();
    io.run();
    EXPECT_EQ(aborted, 2);
}

TEST(use_task, ASIO_7_the_signal_is_emitted_on_the_bound_executor) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    auto strand = net::make_strand(io);
    by_hand op;
    bool on_strand = false;
    op.on_signal = [&] { on_strand = strand.running_in_this_thread(); };
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    auto j = root.async("op", [](by_hand& o, net::strand<net::io_context::executor_type> s) -> task<> {
        co_await initiate<void(detail::error_code, int)>(
            [&o](auto h) {
                h.get_cancellation_slot().assign([&o](net::cancellation_type) { o.on_signal(); });
                o.held.emplace(std::move(h));
            },
            net::bind_executor(s, use_task));
    }(op, strand));
    io.poll();
    j.cancel();
    io.poll();
    EXPECT_TRUE(on_strand);
    op.complete({}, 0);
    root.request_close();
    io.poll();
}

// A post without an executor runs on the bound one. Asio asks for it with a default that differs between its versions.
TEST(use_task, ASIO_7_a_post_to_the_bound_executor_alone) {
    net::io_context io;
    auto strand = net::make_strand(io);
    run(io, [](net::strand<net::io_context::executor_type> s) -> task<> {
        co_await net::post(net::bind_executor(s, use_task));
    }(strand));
}

TEST(use_task, ASIO_9_deadlines) {
    net::io_context io;
    run(io, [](net::io_context& c) -> task<> {
        net::steady_timer t(c, 1h);
        bool late = false;
        try {
            co_await fail_after(2ms, t.async_wait(use_task));
        } catch (const timed_out&) {
            late = true;
        }
        EXPECT_TRUE(late);
        auto nothing = co_await move_on_after(2ms, t.async_wait(use_task));
        EXPECT_FALSE(nothing);
        t.expires_after(0ms);
        co_await fail_after(1h, t.async_wait(use_task));  // and io.run() does not wait for the hour
        auto ended = co_await as_outcome(t.async_wait(use_task));
        EXPECT_TRUE(ended.has_value());
    }(io));
}

TEST(use_task, ASIO_10_an_initiation_that_throws) {
    net::io_context io;
    EXPECT_THROW(
        run(io, []() -> task<> { co_await initiate<void()>([](auto) { throw std::runtime_error("no"); }, use_task); }()),
        std::runtime_error);
}

}  // namespace
