// The driver of a runtime: when it is made, who is in it, and that it is looked at in time.

#include <roost/runtime/detail/driver_seat.hpp>

#include <gtest/gtest.h>

#include <roost/flow/when_all.hpp>
#include <roost/io/descriptor.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace roost;
using namespace std::chrono_literals;

// A pipe whose ends do not block.
class pipe_pair {
public:
    pipe_pair() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        from_ = io::descriptor(ends[0]);
        to_ = ends[1];
    }
    pipe_pair(const pipe_pair&) = delete;
    pipe_pair& operator=(const pipe_pair&) = delete;
    ~pipe_pair() { ::close(to_); }
    void send() const { EXPECT_EQ(::write(to_, "x", 1), 1); }
    task<> take() {
        static_cast<void>(co_await from_.readable());
        char byte = 0;
        EXPECT_EQ(::read(from_.native_handle(), &byte, 1), 1);
    }

private:
    io::descriptor from_;
    int to_ = -1;
};

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

class driver_of_a_runtime : public testing::TestWithParam<unsigned> {
protected:
    runtime_options options() const { return runtime_options().workers(GetParam()); }
};

task<> wait_for_one(pipe_pair& p) { co_await p.take(); }

TEST_P(driver_of_a_runtime, IO_84_is_made_when_the_first_descriptor_waits) {
    pipe_pair p;
    const std::size_t before = open_files();
    {
        runtime rt(options());
        EXPECT_EQ(open_files(), before);
        p.send();
        run(rt, wait_for_one(p));
        EXPECT_EQ(open_files(), before + 2);
    }
}

// The runtime that waited before has ended; its driver with it.
TEST_P(driver_of_a_runtime, IO_84_a_descriptor_outlives_it) {
    pipe_pair p;
    for (int i = 0; i < 3; ++i) {
        runtime rt(options());
        std::thread later([&] {
            std::this_thread::sleep_for(5ms);
            p.send();
        });
        run(rt, wait_for_one(p));
        later.join();
    }
}

task<> yield_until(std::atomic<bool>& done, const pipe_pair& p, int& yields) {
    p.send();
    while (!done.load()) {
        ++yields;
        co_await yield();
    }
}
task<> take_then(pipe_pair& p, std::atomic<bool>& done) {
    co_await p.take();
    done = true;
}
task<> yield_beside(scope& s, pipe_pair& p, int& yields) {
    std::atomic<bool> done{false};
    const job reader = s.launch("reader", take_then(p, done));
    co_await yield();  // the reader waits now
    co_await yield_until(done, p, yields);
    co_await reader.join();
}
task<int> most_yields(pipe_pair& p) {
    int yields = 0;
    co_await with_scope(yield_beside, std::ref(p), std::ref(yields));
    co_return yields;
}

// One worker: a bound in bodies, not in time.
TEST(driver_of_a_loop, IO_85_is_looked_at_while_bodies_yield) {
    pipe_pair p;
    runtime rt(runtime_options().workers(1));
    for (int i = 0; i < 100; ++i) {
        EXPECT_LE(run(rt, most_yields(p)), 3 * 64);
    }
}

task<> compute_until(std::atomic<bool>& done) {
    const time_point give_up = now() + 30s;
    while (!done.load() && now() < give_up) {}
    co_return;
}
task<> ping_pong(pipe_pair& there, pipe_pair& back, std::atomic<bool>& done) {
    for (int i = 0; i < 20; ++i) {
        there.send();
        co_await back.take();
    }
    done = true;
}
task<> answer(pipe_pair& there, pipe_pair& back) {
    for (int i = 0; i < 20; ++i) {
        co_await there.take();
        back.send();
    }
}
task<> serve_beside(scope& s, std::atomic<bool>& done) {
    pipe_pair there;
    pipe_pair back;
    const job one = s.launch("answer", answer(there, back));
    const job two = s.launch("ping", ping_pong(there, back, done));
    co_await yield();
    s.launch("compute", compute_until(done));
    co_await two.join();
    co_await one.join();
}
task<bool> served_beside() {
    std::atomic<bool> done{false};
    co_await with_scope(serve_beside, std::ref(done));
    co_return done.load();
}

// A body that computes does not hold up what other connections wait for: the other worker drives.
TEST(driver_of_a_pool, IO_86_is_driven_while_a_body_computes) {
    runtime rt(runtime_options().workers(2).soft_budget(duration(0)));
    for (int i = 0; i < 20; ++i) {
        const time_point from = now();
        EXPECT_TRUE(run(rt, served_beside()));
        EXPECT_LT(now() - from, 20s);
    }
}

std::string switches() {
    std::string all;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        if (thread.path().filename() == std::to_string(::gettid())) {
            continue;
        }
        std::ifstream status(thread.path() / "status");
        for (std::string line; std::getline(status, line);) {
            if (line.find("ctxt_switches") != std::string::npos) {
                all += line;
            }
        }
    }
    return all;
}

task<> wait_beside(scope& s, pipe_pair& p, std::atomic<bool>& waits) {
    const job reader = s.launch("reader", wait_for_one(p));
    co_await yield();
    waits = true;
    co_await reader.join();
}

TEST_P(driver_of_a_runtime, IO_87_no_thread_wakes_up_while_nothing_happens) {
    pipe_pair p;
    std::atomic<bool> waits{false};
    runtime rt(options());
    std::thread serving([&] { run(rt, with_scope(wait_beside, std::ref(p), std::ref(waits))); });
    while (!waits.load()) {
        std::this_thread::sleep_for(1ms);
    }
    bool is_quiet = false;
    for (int i = 0; i < 50 && !is_quiet; ++i) {
        const std::string before = switches();
        std::this_thread::sleep_for(300ms);
        is_quiet = before == switches();
    }
    EXPECT_TRUE(is_quiet);
    p.send();
    serving.join();
}

INSTANTIATE_TEST_SUITE_P(workers, driver_of_a_runtime, testing::Values(1U, 2U));

// A driver of one's own is what the runtime sleeps in.
class counting_driver final : public ext::driver {
public:
    bool poll() noexcept override {
        ++polls;
        return inner_.poll();
    }
    void park(time_point deadline) noexcept override {
        ++parks;
        inner_.park(deadline);
    }
    void wake() noexcept override { inner_.wake(); }
    ext::reactor* reactor(std::error_code& why) noexcept override { return inner_.reactor(why); }
    void close() noexcept override {
        ++closes;
        inner_.close();
    }
    std::atomic<int> polls{0};
    std::atomic<int> parks{0};
    std::atomic<int> closes{0};

private:
    io::epoll_driver inner_;
};

TEST_P(driver_of_a_runtime, IO_84_a_driver_of_ones_own) {
    counting_driver own;
    {
        runtime rt(options().driver(own));
        pipe_pair p;
        std::thread later([&] {
            std::this_thread::sleep_for(5ms);
            p.send();
        });
        run(rt, wait_for_one(p));
        later.join();
    }
    EXPECT_GT(own.parks, 0);
    EXPECT_GT(own.polls, 0);
    EXPECT_GE(own.closes, 1);
}

}  // namespace
