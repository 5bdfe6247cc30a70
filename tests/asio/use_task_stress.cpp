// Cancellation against completion on real threads, in the shapes in which Asio's own coroutines race. ThreadSanitizer and
// AddressSanitizer see what a plain run can't. ROOST_STRESS_SECONDS sets how long each takes.

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/this_task.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::seam;
using namespace std::chrono_literals;
namespace net = roost::detail::net;
using local_socket = net::local::stream_protocol::socket;
using message = std::shared_ptr<int>;
using message_channel = net::experimental::concurrent_channel<void(detail::error_code, message)>;

class time_box {
public:
    time_box() {
        const char* text = std::getenv("ROOST_STRESS_SECONDS");
        const double seconds = text == nullptr ? 1.0 : std::min(std::atof(text), 20.0);
        end_ = now() + std::chrono::duration_cast<duration>(std::chrono::duration<double>(seconds));
    }
    [[nodiscard]] bool goes_on() const { return now() < end_; }

private:
    time_point end_;
};

// A context with two threads and nothing serial about it.
class busy_context {
public:
    busy_context() : guard_(net::make_work_guard(io)) {
        for (int i = 0; i < 2; ++i) {
            threads_.emplace_back([this] { io.run(); });
        }
    }
    ~busy_context() {
        guard_.reset();
        for (std::thread& t : threads_) {
            t.join();
        }
    }
    net::io_context io;

private:
    net::executor_work_guard<net::io_context::executor_type> guard_;
    std::vector<std::thread> threads_;
};

void wait_a_little(std::mt19937& random) {
    const int spins = static_cast<int>(random() % 2000);
    for (int i = 0; i < spins; ++i) {
        spin_hint();
    }
}

struct tally {
    int completed = 0;
    int cancelled = 0;
    void add(const job& j) {
        ASSERT_TRUE(j.state() == job_state::completed || j.state() == job_state::cancelled) << to_string(j.state());
        ++(j.state() == job_state::completed ? completed : cancelled);
    }
};

task<> write_much(local_socket& s, const std::vector<char>& data) {
    auto [ec, n] = co_await net::async_write(s, net::buffer(data), net::as_tuple(use_task));
    EXPECT_TRUE(ec || n == data.size());
}
task<> read_much(local_socket& s, std::vector<char>& data) {
    auto [ec, n] = co_await net::async_read(s, net::buffer(data), net::as_tuple(use_task));
    EXPECT_TRUE(ec || n == data.size());
}

// asio#1348: a composed operation passes its slot on from step to step; an emission beside a step is a race.
TEST(use_task, ASIO_7_composed_operations_cancelled_between_their_steps) {
    busy_context context;
    std::mt19937 random(1);
    tally all;
    for (const time_box box; box.goes_on();) {
        local_socket a(context.io);
        local_socket b(context.io);
        net::local::connect_pair(a, b);
        std::vector<char> out(2'000'000, 'x');
        std::vector<char> in(2'000'000);
        owned_scope root(io_executor::of(context.io), scope_options("root").report_failures());
        job writes = root.launch("write", write_much(a, out));
        job reads = root.launch("read", read_much(b, in));
        wait_a_little(random);
        if (random() % 2 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 800));
        }
        root.cancel();
        root.close_blocking();
        all.add(writes);
        all.add(reads);
    }
    EXPECT_GT(all.cancelled, 0);
}

// asio#1029: the waiting side, the operation and the canceller are on three different executors.
task<> wait_on_strand(net::io_context& io, std::chrono::microseconds d) {
    auto strand = net::make_strand(io);
    net::steady_timer t(strand, d);
    auto [ec] = co_await t.async_wait(net::as_tuple(net::bind_executor(strand, use_task)));
    EXPECT_FALSE(ec);
}

TEST(use_task, ASIO_7_expiry_and_cancel_on_different_executors) {
    runtime rt(runtime_options().workers(1));
    busy_context context;
    std::mt19937 random(2);
    tally all;
    for (const time_box box; box.goes_on();) {
        owned_scope root(rt, scope_options("root").report_failures());
        std::vector<job> jobs;
        for (int i = 0; i < 8; ++i) {
            jobs.push_back(root.launch("wait", wait_on_strand(context.io, std::chrono::microseconds(random() % 200))));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
        root.cancel();
        root.close_blocking();
        for (const job& j : jobs) {
            all.add(j);
        }
    }
    EXPECT_GT(all.completed, 0);
    EXPECT_GT(all.cancelled, 0);
}

// asio#1576: the value arrives on one thread while another cancels. A message is received once, stays in the channel, or is
// destroyed because the cancel came before the handler (ASIO-5); a body that was cancelled has never seen it.
task<> receive_one(message_channel& from, std::atomic<int>& received) {
    auto [ec, value] = co_await from.async_receive(net::as_tuple(use_task));
    received.fetch_add(ec ? 0 : *value);
}

TEST(use_task, ASIO_7_delivery_and_cancel_at_the_same_time) {
    busy_context context;
    std::mt19937 random(3);
    tally all;
    int destroyed = 0;
    for (const time_box box; box.goes_on();) {
        message_channel messages(context.io, 1);
        const message sent = std::make_shared<int>(1);
        std::atomic<int> received{0};
        owned_scope root(io_executor::of(context.io), scope_options("root").report_failures());
        job receives = root.launch("receive", receive_one(messages, received));
        wait_a_little(random);
        std::thread canceller([&] { receives.cancel(); });
        // Asio 1.26 takes no message after a receive has been cancelled, although there is room.
        const int taken = messages.try_send(detail::error_code(), sent) ? 1 : 0;
        canceller.join();
        root.close_blocking();
        all.add(receives);
        EXPECT_EQ(received.load(), receives.state() == job_state::completed ? 1 : 0);
        int left = 0;
        static_cast<void>(messages.try_receive([&left](detail::error_code, const message& m) { left += *m; }));
        EXPECT_LE(received.load() + left, taken);
        destroyed += taken - received.load() - left;
        EXPECT_EQ(sent.use_count(), 1) << "it is still referenced";
    }
    std::printf("%d received, %d cancelled, with %d of them the message was destroyed\n", all.completed, all.cancelled,
                destroyed);
    EXPECT_GT(all.completed, 0);
    EXPECT_GT(all.cancelled, 0);
    EXPECT_LE(destroyed, all.cancelled);
}

// Contexts that go away under their tasks.
TEST(use_task, ASIO_8_contexts_destroyed_with_operations_under_way) {
    std::mt19937 random(4);
    std::atomic<int> frames{0};
    class frame_count {
    public:
        explicit frame_count(std::atomic<int>& n) : n_(&n) { n_->fetch_add(1); }
        frame_count(const frame_count&) = delete;
        frame_count& operator=(const frame_count&) = delete;
        ~frame_count() { n_->fetch_sub(1); }

    private:
        std::atomic<int>* n_;
    };
    for (const time_box box; box.goes_on();) {
        net::io_context io;
        std::vector<job> jobs(10);
        for (job& j : jobs) {
            async_run(
                io, "orphan",
                [](net::io_context& c, std::atomic<int>& n, job& me) -> task<> {
                    frame_count counted(n);
                    me = co_await this_job();
                    net::steady_timer t(c, 1h);
                    co_await t.async_wait(use_task);
                }(io, frames, j),
                [](std::exception_ptr) {});
        }
        io.poll();
        for (job& j : jobs) {
            if (random() % 2 == 0) {
                j.cancel();
            }
        }
        if (random() % 2 == 0) {
            io.poll_one();
        }
    }
    EXPECT_EQ(frames.load(), 0);
}

}  // namespace
