// A runtime that drives its context, on real threads: cancellation against completion, posts against a worker that goes to
// sleep in the context, and ends. ROOST_STRESS_SECONDS sets how long each takes.

#include <roost/asio/asio_driver.hpp>

#include <roost/asio/io_executor.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/io/io.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

namespace {

using namespace roost;
using namespace std::chrono_literals;
namespace net = roost::detail::net;
using roost::detail::error_code;
using local_socket = net::local::stream_protocol::socket;
using message = std::shared_ptr<int>;
using message_channel = net::experimental::concurrent_channel<void(error_code, message)>;

class box_of_time {
public:
    box_of_time() {
        const char* text = std::getenv("ROOST_STRESS_SECONDS");
        const double seconds = text == nullptr ? 1.0 : std::min(std::atof(text), 20.0);
        end_ = now() + std::chrono::duration_cast<duration>(std::chrono::duration<double>(seconds));
    }
    [[nodiscard]] bool goes_on() const { return now() < end_; }

private:
    time_point end_;
};

class driven_runtime {
public:
    explicit driven_runtime(unsigned workers = 2)
        : rt(runtime_options().workers(workers).driver(driver).soft_budget(duration(0))), io(driver.context()) {}
    ext::asio_driver driver;
    runtime rt;
    net::io_context& io;
};

void pause(std::mt19937& random, unsigned most_us) {
    const auto us = random() % (most_us + 1);
    if (us != 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(us));
    }
}

task<> send(local_socket& to, const std::vector<char>& data) {
    const auto [ec, n] = co_await net::async_write(to, net::buffer(data), net::as_tuple(use_task));
    EXPECT_TRUE(ec || n == data.size());
}
task<> receive(local_socket& from, std::vector<char>& data) {
    const auto [ec, n] = co_await net::async_read(from, net::buffer(data), net::as_tuple(use_task));
    EXPECT_TRUE(ec || n == data.size());
}

TEST(asio_driver, ASIO_52_composed_operations_cancelled_between_their_steps) {
    driven_runtime on;
    std::mt19937 random(1);
    int cancelled = 0;
    for (const box_of_time box; box.goes_on();) {
        local_socket a(on.io);
        local_socket b(on.io);
        net::local::connect_pair(a, b);
        std::vector<char> out(1'000'000, 'x');
        std::vector<char> in(1'000'000);
        owned_scope root(on.rt, scope_options("root").report_failures());
        const job writes = root.launch("write", send(a, out));
        const job reads = root.launch("read", receive(b, in));
        pause(random, 800);
        root.cancel();
        root.close_blocking();
        cancelled += reads.state() == job_state::cancelled || writes.state() == job_state::cancelled ? 1 : 0;
    }
    EXPECT_GT(cancelled, 0);
}

task<> take_one(message_channel& from, std::atomic<int>& received) {
    const auto [ec, value] = co_await from.async_receive(net::as_tuple(use_task));
    received.fetch_add(ec ? 0 : *value);
}

TEST(asio_driver, ASIO_52_delivery_and_cancel_at_the_same_time) {
    driven_runtime on;
    std::mt19937 random(3);
    int completed = 0;
    int cancelled = 0;
    int round = 0;
    for (const box_of_time box; box.goes_on() || round < 32; ++round) {
        message_channel messages(on.io, 1);
        const message sent = std::make_shared<int>(1);
        std::atomic<int> received{0};
        owned_scope root(on.rt, scope_options("root").report_failures());
        const job receives = root.launch("receive", take_one(messages, received));
        pause(random, 20);
        if (round % 16 == 0) {  // both ends are seen, however busy the machine is
            static_cast<void>(messages.try_send(error_code(), sent));
            while (received.load() == 0) {
                std::this_thread::yield();
            }
        }
        std::thread canceller([&] { receives.cancel(); });
        pause(random, 20);
        static_cast<void>(messages.try_send(error_code(), sent));
        canceller.join();
        root.close_blocking();
        const bool is_completed = receives.state() == job_state::completed;
        ++(is_completed ? completed : cancelled);
        EXPECT_EQ(received.load(), is_completed ? 1 : 0);
        static_cast<void>(messages.try_receive([](error_code, const message&) {}));
    }
    EXPECT_GT(completed, 0);
    EXPECT_GT(cancelled, 0);
}

task<> await_post(net::io_context& io, std::atomic<int>& ran) {
    co_await net::post(io, use_task);
    ++ran;
}

// No wake is lost: each post comes while the workers fall asleep.
TEST(asio_driver, IO_81_posts_against_workers_that_go_to_sleep) {
    for (const unsigned workers : {1U, 2U}) {
        driven_runtime on(workers);
        std::mt19937 random(5);
        std::atomic<int> ran{0};
        int posted = 0;
        for (const box_of_time box; box.goes_on(); ++posted) {
            pause(random, 60);
            switch (random() % 3) {
                case 0: run(on.rt, await_post(on.io, ran)); break;
                case 1: {
                    std::promise<void> done;
                    net::post(on.io, [&] {
                        ++ran;
                        done.set_value();
                    });
                    done.get_future().wait();
                    break;
                }
                default: {
                    owned_scope root(on.rt, scope_options("root").report_failures());
                    root.launch("post", await_post(on.io, ran));
                    root.close_blocking();
                }
            }
        }
        EXPECT_EQ(ran.load(), posted);
    }
}

task<> sleep_and_post(net::io_context& io, duration d) {
    net::steady_timer timer(io, d);
    co_await timer.async_wait(use_task);
    co_await sleep_for(d);
    co_await net::post(io, use_task);
}

TEST(asio_driver, ASIO_58_runtimes_that_come_and_go) {
    std::mt19937 random(6);
    net::io_context given;
    for (const box_of_time box; box.goes_on();) {
        ext::asio_driver around(given);
        auto dropped = std::make_shared<int>(0);
        net::steady_timer never(given, 1h);
        {
            runtime rt(runtime_options().workers(static_cast<unsigned>(1 + random() % 3)).driver(around));
            never.async_wait([dropped](error_code) { ++*dropped; });
            std::thread posts([&given, dropped, seed = random()] {
                std::mt19937 of_thread(seed);
                for (int i = 0; i < 20; ++i) {
                    net::post(given, [dropped] { ++*dropped; });
                    pause(of_thread, 5);
                }
            });
            if (random() % 2 == 0) {
                run(rt, sleep_and_post(given, std::chrono::microseconds(random() % 100)));
            }
            posts.join();
        }
        never.cancel();
        around.close();
        given.run();
        EXPECT_EQ(*dropped, 21);
        given.restart();
    }
}

task<> wait_readable(io::descriptor d, duration limit) {
    static_cast<void>(co_await move_on_after(limit, as_task(d.readable())));
}
task<> descriptors(scope& s, std::uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20; ++i) {
        const int fd = ::eventfd(static_cast<unsigned>(random() % 2), EFD_CLOEXEC | EFD_NONBLOCK);
        s.launch("waits", wait_readable(io::descriptor(fd), std::chrono::microseconds(random() % 300)));
    }
    co_return;
}

// Descriptors that open and close in the reactor while their events come.
TEST(asio_driver, ASIO_61_descriptors_that_come_and_go) {
    driven_runtime on;
    std::uint32_t seed = 0;
    for (const box_of_time box; box.goes_on(); ++seed) {
        run(on.rt, with_scope(descriptors, seed));
    }
    net::io_context plain;
    auto guard = net::make_work_guard(plain);
    std::thread one([&] { plain.run(); });
    std::thread two([&] { plain.run(); });
    for (const box_of_time box; box.goes_on(); ++seed) {
        block_on(io_executor::of(plain), as_task(with_scope(descriptors, seed)));
    }
    guard.reset();
    one.join();
    two.join();
}

}  // namespace
