// Sockets and descriptors of the layer io on an io_context: driven by a runtime, and run by threads of the program.

#include <roost/asio/detail/nested_reactor.hpp>

#include <roost/asio/asio_driver.hpp>
#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/io/io.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace {

using namespace roost;
using namespace std::chrono_literals;
namespace net = roost::detail::net;
using local_socket = net::local::stream_protocol::socket;

void add_one(int counter) {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(counter, &one, sizeof one), 8);
}
int make_counter() { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

task<> wait_for_one(io::descriptor& d) {
    std::uint64_t count = 0;
    while (::read(d.native_handle(), &count, sizeof count) < 0) {
        (co_await d.readable()).value();
    }
}

// Sockets of both kinds in one task.
task<> copy(io::tcp_stream from, local_socket& to) {
    std::string text(100, ' ');
    for (;;) {
        const auto n = co_await from.read_some(text);
        if (!n || *n == 0) {
            to.close();
            co_return;
        }
        co_await net::async_write(to, net::buffer(text.data(), *n), use_task);
    }
}
task<> send_pieces(io::endpoint where, int count) {
    io::tcp_stream s = co_await io::tcp_stream::connect(where).or_throw();
    for (int i = 0; i < count; ++i) {
        const std::string_view piece("0123456789");
        co_await s.write_all(piece).or_throw();
        co_await sleep_for(100us);
    }
}
task<std::size_t> copy_all(scope& s, net::io_context& io) {
    local_socket a(io);
    local_socket b(io);
    net::local::connect_pair(a, b);
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    s.launch("sender", send_pieces(door.local(), 50));
    s.launch("copy", copy(co_await door.accept().or_throw(), a));
    std::string all;
    const auto [error, n] =
        co_await net::async_read(b, net::dynamic_buffer(all), net::transfer_all(), net::as_tuple(use_task));
    co_return n;
}
task<std::size_t> copy_in_scope(net::io_context& io) { co_return co_await with_scope(copy_all, std::ref(io)); }

class io_on_a_driven_context : public testing::TestWithParam<unsigned> {};

TEST_P(io_on_a_driven_context, ASIO_61_sockets_of_both_layers_in_one_task) {
    ext::asio_driver driver;
    runtime rt(runtime_options().workers(GetParam()).driver(driver));
    EXPECT_EQ(run(rt, copy_in_scope(driver.context())), 500U);
    EXPECT_EQ(rt.get_executor().reactor(), io_executor::of(driver.context()).reactor());
}

task<> wait_for_each(scope& s, std::deque<io::descriptor>& all) {
    for (io::descriptor& d : all) {
        s.launch("waits", wait_for_one(d));
    }
    co_return;
}

// More events at once than one call of the kernel returns.
TEST_P(io_on_a_driven_context, ASIO_61_many_descriptors) {
    ext::asio_driver driver;
    runtime rt(runtime_options().workers(GetParam()).driver(driver));
    std::deque<io::descriptor> all;
    for (int i = 0; i < 600; ++i) {
        all.emplace_back(make_counter());
    }
    for (int round = 0; round < 3; ++round) {
        std::thread writes([&] {
            std::this_thread::sleep_for(2ms);
            for (io::descriptor& d : all) {
                add_one(d.native_handle());
            }
        });
        run(rt, with_scope(wait_for_each, std::ref(all)));
        writes.join();
    }
}

INSTANTIATE_TEST_SUITE_P(workers, io_on_a_driven_context, testing::Values(1U, 2U));

TEST(io_on_a_context, ASIO_61_sockets_of_both_layers_in_one_task) {
    net::io_context io;
    EXPECT_EQ(run(io, copy_in_scope(io)), 500U);
}

TEST(io_on_a_context, ASIO_61_on_several_threads) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    std::thread beside([&] { io.run(); });
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(run(io, copy_in_scope(io)), 500U);
    }
    guard.reset();
    beside.join();
}

// run() of the context returns as soon as no descriptor is registered, and not before.
TEST(io_on_a_context, ASIO_61_a_descriptor_keeps_the_context_running_while_it_is_registered) {
    net::io_context io;
    owned_scope jobs(io_executor::of(io), scope_options("jobs").report_failures());
    for (int round = 0; round < 3; ++round) {
        io::descriptor counter(make_counter());
        const int fd = counter.native_handle();
        std::atomic<bool> written{false};
        jobs.launch("waits", [](io::descriptor d, std::atomic<bool>& w) -> task<> {
            co_await wait_for_one(d);
            EXPECT_TRUE(w.load());
        }(std::move(counter), written));
        std::thread writes([&] {
            std::this_thread::sleep_for(5ms);
            written = true;
            add_one(fd);
        });
        io.restart();
        io.run();
        writes.join();
        EXPECT_TRUE(written.load()) << "run() returned before the event";
    }
    jobs.request_close();
    io.restart();
    io.run();
}

// The descriptor is registered with a reactor that outlives its context; it can then be used elsewhere.
TEST(io_on_a_context, ASIO_61_a_descriptor_outlives_the_context) {
    io::descriptor counter(make_counter());
    for (int round = 0; round < 3; ++round) {
        {
            net::io_context io;
            add_one(counter.native_handle());
            run(io, wait_for_one(counter));
            std::thread writes([&] {
                std::this_thread::sleep_for(2ms);
                add_one(counter.native_handle());
            });
            run(io, wait_for_one(counter));
            writes.join();
        }
        ext::asio_driver driver;
        runtime rt(runtime_options().workers(2).driver(driver));
        std::thread writes([&] {
            std::this_thread::sleep_for(2ms);
            add_one(counter.native_handle());
        });
        run(rt, wait_for_one(counter));
        writes.join();
    }
}

// A wait that a task has begun, and the context with both of them destroyed.
TEST(io_on_a_context, ASIO_61_a_context_ends_while_a_descriptor_is_registered) {
    io::descriptor counter(make_counter());
    {
        net::io_context io;
        static_cast<void>(io_executor::of(io));
        run(io,
            [](io::descriptor& d) -> task<> { static_cast<void>(co_await move_on_after(1ms, wait_for_one(d))); }(counter));
        add_one(counter.native_handle());
    }
    std::error_code why;
    net::io_context other;
    EXPECT_EQ(io_executor::of(other).reactor(), nullptr);
    EXPECT_NE(io_executor::of(other).make_reactor(why), nullptr);
    run(other, wait_for_one(counter));
}

TEST(io_on_a_context, ASIO_61_a_reactor_without_its_context_refuses_descriptors) {
    io::descriptor counter(make_counter());
    ext::reactor* kept = nullptr;
    {
        net::io_context io;
        std::error_code why;
        kept = io_executor::of(io).make_reactor(why);
        ASSERT_NE(kept, nullptr);
        kept->retain();
        EXPECT_FALSE(kept->is_closed());
    }
    EXPECT_TRUE(kept->is_closed());
    class silent final : public ext::event_source {
    public:
        silent() noexcept : event_source(+[](ext::event_source&, ext::io_events) noexcept {}) {}
    } source;
    EXPECT_EQ(kept->watch(source, counter.native_handle()), io::errc::closed);
    kept->release();
}

}  // namespace
