#include <roost/asio/detail/run_wait.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;
namespace net = roost::detail::net;

task<int> soon(int value) {
    co_await sleep_for(20us);
    co_return value;
}

// Threads that run a context beside the thread of the test.
class other_threads {
public:
    other_threads(net::io_context& io, int count) : guard_(std::in_place, io.get_executor()) {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([&io] { io.run(); });
        }
    }
    void let_go() { guard_.reset(); }
    ~other_threads() {
        guard_.reset();
        for (std::thread& t : threads_) {
            t.join();
        }
    }

private:
    std::optional<net::executor_work_guard<net::io_context::executor_type>> guard_;
    std::vector<std::thread> threads_;
};

TEST(run_wait, ASIO_21_run_returns_when_other_threads_run_the_context) {
    for (const int count : {1, 2, 4}) {
        net::io_context io;
        other_threads others(io, count);
        for (int i = 0; i < 200; ++i) {
            ASSERT_EQ(run(io, soon(i)), i) << count << " other threads";
        }
    }
}

TEST(run_wait, ASIO_21_run_returns_the_value_also_when_the_context_runs_out_of_work_with_it) {
    for (int i = 0; i < 100; ++i) {
        net::io_context io;
        other_threads others(io, 2);
        const int got = run(io, [](other_threads& o, int value) -> task<int> {
            const int made = co_await soon(value);
            o.let_go();
            co_return made;
        }(others, i));
        ASSERT_EQ(got, i);
    }
}

TEST(run_wait, ASIO_21_a_waiting_thread_that_is_busy_in_a_handler_learns_it_afterwards) {
    net::io_context io;
    other_threads others(io, 1);
    const std::thread::id me = std::this_thread::get_id();
    event ended;
    // Whichever thread takes it: when it is the waiting one, the task ends beside it and the news comes in vain for a while.
    for (int i = 0; i < 20; ++i) {
        ended.reset();
        net::post(io, [&ended, me] {
            if (std::this_thread::get_id() == me) {
                ended.wait_blocking();
            }
        });
        run(io, [](event& e) -> task<> {
            co_await sleep_for(100us);
            e.set();
        }(ended));
    }
}

TEST(run_wait, ASIO_21_run_on_a_stopped_context_begins_nothing) {
    net::io_context io;
    io.stop();
    bool begun = false;
    const auto begin = [](bool& b) -> task<> {
        b = true;
        co_return;
    };
    EXPECT_THROW(run(io, begin(begun)), roost::error);
    io.restart();
    io.poll();
    EXPECT_FALSE(begun);
}

TEST(run_wait, ASIO_21_a_run_that_was_left_by_an_exception_leaves_the_task_to_the_context) {
    net::io_context io;
    event release;
    bool done = false;
    net::post(io, [] { throw std::runtime_error("a handler"); });
    EXPECT_THROW(run(io,
                     [](event& e, bool& d) -> task<> {
                         co_await e.wait();
                         d = true;
                     }(release, done)),
                 std::runtime_error);
    release.set();
    io.restart();
    io.poll();
    EXPECT_TRUE(done);
}

}  // namespace
