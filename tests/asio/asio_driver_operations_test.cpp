// Operations of tasks on a runtime that drives the context: what tests/asio/use_task_test.cpp shows on a context of one's own.

#include <roost/asio/asio_driver.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "all_of_asio.hpp"
#include "by_hand.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using asio_testing::await_by_hand;
using asio_testing::by_hand;
namespace net = roost::detail::net;
using roost::detail::error_code;
using local_socket = net::local::stream_protocol::socket;
using tcp = net::ip::tcp;

class driven_operation : public testing::TestWithParam<unsigned> {
protected:
    ext::asio_driver driver;
    runtime rt{runtime_options().workers(GetParam()).driver(driver).soft_budget(duration(0))};
    net::io_context& io = driver.context();
    local_socket a{io};
    local_socket b{io};

    void SetUp() override { net::local::connect_pair(a, b); }
};

// --- cancel and stop --------------------------------------------------------------------------------------------------------

task<> read_for_ever(local_socket& from) {
    std::string text(100, ' ');
    co_await net::async_read(from, net::buffer(text), use_task);
}
task<> cancel_before_and_after(scope& s, local_socket& from) {
    for (int i = 0; i < 100; ++i) {
        job reads = s.launch("read", read_for_ever(from));
        if (i % 2 == 0) {
            co_await yield();
        }
        if (i % 5 == 0) {
            co_await sleep_for(100us);
        }
        reads.cancel();
        co_await reads.join();
        EXPECT_EQ(reads.state(), job_state::cancelled);
    }
}

TEST_P(driven_operation, ASIO_52_a_cancelled_task_ends_its_operation) {
    run(rt, with_scope(cancel_before_and_after, std::ref(b)));
    EXPECT_TRUE(b.is_open());
}

task<> accept_until_stop(tcp::acceptor& door, error_code& how) {
    const auto [error, peer] = co_await door.async_accept(net::as_tuple(use_task));
    how = error;
}
TEST_P(driven_operation, ASIO_52_a_stop_ends_an_accept) {
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    owned_scope root(rt, scope_options("root").report_failures());
    error_code how;
    root.launch("accept", accept_until_stop(door, how));
    root.tree_node().stop();  // before the accept begins, or later
    root.close_blocking();
    EXPECT_EQ(how, net::error::operation_aborted);
}

// The signal is emitted inside the context, so never beside a handler, and no strand is made.
task<> await_bound(by_hand& op, net::io_context& io, std::atomic<bool>& begun) {
    const auto begin = [&op, &io, &begun](auto handler) {
        EXPECT_EQ(net::get_associated_executor(handler), net::any_io_executor(io.get_executor())) << "no strand is needed";
        handler.get_cancellation_slot().assign([&op](net::cancellation_type) { op.on_signal(); });
        op.held.emplace(std::move(handler));
        begun = true;
    };
    auto call = asio_testing::initiate<void(error_code, int)>(begin, net::bind_executor(io.get_executor(), use_task));
    co_await std::move(call);
}

TEST_P(driven_operation, ASIO_52_a_signal_is_emitted_inside_the_context) {
    by_hand op;
    bool is_inside = false;
    std::atomic<bool> begun{false};
    op.on_signal = [&] {
        is_inside = io.get_executor().running_in_this_thread();
        op.complete(net::error::operation_aborted, 0);
    };
    owned_scope root(rt, scope_options("root").report_failures());
    const job j = root.launch("op", await_bound(op, io, begun));
    while (!begun) {
        std::this_thread::yield();
    }
    j.cancel();
    root.close_blocking();
    EXPECT_TRUE(is_inside);
    EXPECT_EQ(j.state(), job_state::cancelled);
}

// --- deadlines --------------------------------------------------------------------------------------------------------------

struct tally {
    long bytes = 0;
    long timeouts = 0;
    bool in_order = true;
};

task<tally> read_all(local_socket& from) {
    tally seen;
    std::array<char, 4096> data{};
    for (;;) {
        auto read = co_await move_on_after(20us, from.async_read_some(net::buffer(data), net::as_tuple(use_task)));
        if (!read) {
            ++seen.timeouts;
            continue;
        }
        const auto [error, n] = *read;
        if (error) {
            co_return seen;
        }
        for (std::size_t i = 0; i < n; ++i) {
            seen.in_order = seen.in_order && data.at(i) == static_cast<char>(seen.bytes % 127);
            ++seen.bytes;
        }
    }
}

// One byte at a time, at a pace close to the reader's deadlines.
void write_all(int fd, long count) {
    for (long i = 0; i < count; ++i) {
        const char byte = static_cast<char>(i % 127);
        if (::write(fd, &byte, 1) != 1) {
            break;
        }
        const time_point until = now() + std::chrono::microseconds(10 + i % 20);
        while (now() < until) {}
    }
    ::close(fd);
}

TEST_P(driven_operation, ASIO_52_a_read_that_is_tried_again_loses_no_byte) {
    constexpr long count = 5000;
    std::thread writing(write_all, a.release(), count);
    const tally seen = run(rt, read_all(b));
    writing.join();
    EXPECT_EQ(seen.bytes, count);
    EXPECT_TRUE(seen.in_order);
    EXPECT_GT(seen.timeouts, 0);
}

// --- strands ----------------------------------------------------------------------------------------------------------------

using strand = net::strand<net::io_context::executor_type>;

task<> count_in(strand where, int& counter, int times) {
    for (int i = 0; i < times; ++i) {
        co_await net::post(net::bind_executor(where, use_task));
        net::post(where, [&counter] { ++counter; });  // the task runs on a worker again, outside the strand
        co_await net::post(where, use_task);
    }
}
task<> count_from_many(scope& s, strand where, int& counter) {
    for (int i = 0; i < 20; ++i) {
        s.launch("count", count_in(where, counter, 20));
    }
    co_return;
}

TEST_P(driven_operation, ASIO_52_strands) {
    int counter = 0;
    const strand where(io.get_executor());
    run(rt, with_scope(count_from_many, where, std::ref(counter)));
    EXPECT_EQ(counter, 400);
}

// --- many -------------------------------------------------------------------------------------------------------------------

task<> echo(tcp::socket peer) {
    std::array<char, 64> data{};
    for (;;) {
        const auto [error, n] = co_await peer.async_read_some(net::buffer(data), net::as_tuple(use_task));
        if (error) {
            co_return;
        }
        co_await fail_after(60s, net::async_write(peer, net::buffer(data, n), use_task));
    }
}
task<> accept_all(scope& s, tcp::acceptor& door) {
    for (;;) {
        auto [error, peer] = co_await door.async_accept(net::as_tuple(use_task));
        if (error) {
            co_return;
        }
        s.launch("session", echo(std::move(peer)));
    }
}
task<> ask(net::io_context& io, tcp::endpoint where, int times) {
    tcp::socket s(io);
    co_await s.async_connect(where, use_task);
    std::string answer(5, ' ');
    for (int i = 0; i < times; ++i) {
        co_await net::async_write(s, net::buffer("hello", 5), use_task);
        co_await fail_after(60s, net::async_read(s, net::buffer(answer), use_task));
        EXPECT_EQ(answer, "hello");
    }
}
task<> ask_from_many(scope& s, net::io_context& io, tcp::endpoint where, int clients, int times) {
    for (int i = 0; i < clients; ++i) {
        s.launch("client", ask(io, where, times));
    }
    co_return;
}
task<> ask_all(net::io_context& io, tcp::endpoint where) { co_await with_scope(ask_from_many, std::ref(io), where, 40, 50); }
task<> serve(tcp::acceptor& door) { co_await with_scope(accept_all, std::ref(door)); }

TEST_P(driven_operation, ASIO_52_a_server_and_its_clients_on_one_runtime) {
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    owned_scope servers(rt, scope_options("servers").report_failures());
    servers.launch("server", serve(door));
    run(rt, ask_all(io, door.local_endpoint()));
    servers.tree_node().stop();
    servers.close_blocking();
}

// Asio code waits for a task of the runtime.
TEST_P(driven_operation, ASIO_52_async_run_on_the_runtime) {
    std::promise<int> answer;
    async_run(
        rt, "task",
        [](local_socket& from) -> task<int> {
            char byte = 0;
            co_await from.async_read_some(net::buffer(&byte, 1), use_task);
            co_return byte;
        }(b),
        net::bind_executor(io.get_executor(), [&](std::exception_ptr error, int value) {
            EXPECT_EQ(error, nullptr);
            EXPECT_NE(runtime::this_worker(), runtime::no_worker);
            answer.set_value(value);
        }));
    net::write(a, net::buffer("\x07", 1));
    EXPECT_EQ(answer.get_future().get(), 7);
}

INSTANTIATE_TEST_SUITE_P(workers, driven_operation, testing::Values(1U, 2U));

}  // namespace
