// Handlers that are never called: dropped by their operation, or with their context.

#include <roost/asio/use_task.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/task/owned_scope.hpp>

#include "all_of_asio.hpp"
#include "by_hand.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using asio_testing::await_by_hand;
using asio_testing::by_hand;
using asio_testing::initiate;
namespace net = roost::detail::net;
using local_socket = net::local::stream_protocol::socket;

TEST(use_task_dropped, ASIO_8_a_dropped_handler_is_a_cancel_because_of_closed) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    by_hand op;
    auto j = root.async("op", await_by_hand(op));
    io.poll();
    ASSERT_TRUE(op.held.has_value());
    op.held.reset();
    root.request_close();
    io.poll();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.as_job().why().kind(), reason_kind::closed);
}

TEST(use_task_dropped, ASIO_8_a_handler_dropped_while_it_begins) {
    net::io_context io;
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    job j = root.launch("op", []() -> task<> { co_await initiate<void()>([](auto) {}, use_task); }());
    root.request_close();
    io.run();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::closed);
}

TEST(use_task_dropped, ASIO_8_dropped_handlers_end_tasks_of_another_executor) {
    net::io_context home;
    auto guard = net::make_work_guard(home);
    owned_scope root(io_executor::of(home), scope_options("root").report_failures());
    auto io = std::make_unique<net::io_context>();
    job j = root.launch("posts", [](net::io_context& c) -> task<> { co_await net::post(c, use_task); }(*io));
    home.poll();
    EXPECT_FALSE(j.is_finished());
    io.reset();
    root.request_close();
    home.poll();
    EXPECT_EQ(j.state(), job_state::cancelled);
    EXPECT_EQ(j.why().kind(), reason_kind::closed);
}

struct counted {
    explicit counted(int& n) noexcept : left(&n) { ++n; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*left; }
    int* left;
};

TEST(use_task_dropped, ASIO_8_tasks_of_the_context_unwind_with_it) {
    int alive = 0;
    bool after = false;
    job seen;
    {
        net::io_context io;
        async_run(
            io, "orphan",
            [](net::io_context& c, int& n, bool& reached, job& me) -> task<> {
                counted here(n);
                me = co_await this_job();
                local_socket a(c);
                local_socket b(c);
                net::local::connect_pair(a, b);
                char x = 0;
                co_await net::async_read(a, net::buffer(&x, 1), use_task);
                reached = true;
            }(io, alive, after, seen),
            [](std::exception_ptr) {});
        io.poll();
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(after);
    EXPECT_EQ(seen.state(), job_state::cancelled);
    EXPECT_EQ(seen.why().kind(), reason_kind::closed);
}

TEST(use_task_dropped, ASIO_8_a_context_destroyed_with_an_emission_under_way) {
    int alive = 0;
    job seen;
    {
        net::io_context io;
        async_run(
            io, "orphan",
            [](net::io_context& c, int& n, job& me) -> task<> {
                counted here(n);
                me = co_await this_job();
                net::steady_timer t(c, 1h);
                co_await t.async_wait(use_task);
            }(io, alive, seen),
            [](std::exception_ptr) {});
        io.poll();
        seen.cancel();  // its emission will never run
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(seen.state(), job_state::cancelled);
}

// Cancels a job and completes its operation while the context that it was posted to is shut down.
class at_shutdown {
public:
    at_shutdown(job& j, by_hand& op) noexcept : job_(&j), op_(&op) {}
    at_shutdown(at_shutdown&& other) noexcept : job_(std::exchange(other.job_, nullptr)), op_(other.op_) {}
    at_shutdown& operator=(at_shutdown&&) = delete;
    ~at_shutdown() {
        if (job_ != nullptr) {
            job_->cancel();  // the emission goes to a strand that takes no more
            op_->complete(net::error::operation_aborted, 0);
        }
    }
    void operator()() const noexcept {}

private:
    job* job_;
    by_hand* op_;
};

// A context that can be shut down before it is destroyed: a strand in a frame must not outlive it.
class closable_context : public net::io_context {
public:
    using net::execution_context::shutdown;
};

TEST(use_task_dropped, ASIO_23_an_emission_that_a_strand_destroys_at_once_does_not_keep_the_body) {
    net::io_context home;
    auto guard = net::make_work_guard(home);
    owned_scope root(io_executor::of(home), scope_options("root").report_failures());
    closable_context io;
    by_hand op;
    job j = root.launch("op", [](by_hand& o, net::any_io_executor on) -> task<> {
        co_await initiate<void(detail::error_code, int)>([&o](auto h) { o.held.emplace(std::move(h)); },
                                                         net::bind_executor(std::move(on), use_task));
    }(op, net::make_strand(io)));
    home.poll();
    ASSERT_TRUE(op.held.has_value());
    net::post(io, at_shutdown(j, op));
    io.shutdown();
    root.request_close();
    home.poll();
    EXPECT_EQ(j.state(), job_state::cancelled);
}

}  // namespace
