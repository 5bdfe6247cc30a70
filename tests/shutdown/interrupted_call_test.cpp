// interrupt<T> of streams, readers and writers whose operations are tasks, and of generators.

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/until_stop.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <string>

using namespace roost;
using roost::testing::manual_executor;

namespace {

constexpr std::byte five_bytes[5] = {};

// Every operation is a task that waits for an event.
class slow_pipe {
public:
    slow_pipe(event& ready, int& begun) noexcept : ready_(&ready), begun_(&begun) {}

    task<std::size_t> read_some(std::span<std::byte>) {
        co_await begin();
        co_return 5U;
    }
    task<std::size_t> write_some(std::span<const std::byte> bytes) {
        co_await begin();
        co_return bytes.size();
    }
    task<std::span<const std::byte>> fill_buffer() {
        co_await begin();
        co_return five_bytes;
    }
    void consume(std::size_t) {}
    task<std::optional<int>> next() {
        co_await begin();
        co_return 5;
    }

private:
    event::operation begin() {
        ++*begun_;
        return ready_->wait();
    }
    event* ready_;
    int* begun_;
};

enum class operation { read, write, fill, next };

task<> do_one(roost::interrupt<slow_pipe>& pipe, operation what, std::string& log) {
    std::byte buffer[5] = {};
    std::size_t got = 0;
    switch (what) {
        case operation::read: got = co_await pipe.read_some(buffer); break;
        case operation::write: got = co_await pipe.write_some(buffer); break;
        case operation::fill: {
            const std::span<const std::byte> filled = co_await pipe.fill_buffer();
            got = filled.size();
            break;
        }
        case operation::next: {
            const std::optional<int> value = co_await pipe.next();
            got = static_cast<std::size_t>(value.value_or(0));
            break;
        }
    }
    log += std::to_string(got) + " ";
}

class task_operations : public ::testing::TestWithParam<operation> {
protected:
    ~task_operations() override {
        root.request_close();
        on.run_all();
        EXPECT_TRUE(root.is_closed());
    }
    void begin() {
        root.launch("operation", do_one(pipe, GetParam(), log));
        on.run_all();
    }

    manual_executor on{"hand"};
    owned_scope root{on, scope_options("root").report_failures()};
    event ready;
    int begun = 0;
    std::string log;
    shutdown s{"server"};
    roost::interrupt<slow_pipe> pipe = s.interrupt(slow_pipe(ready, begun));
};

TEST_P(task_operations, SHUT_81_SWB_5_a_pending_one_is_woken_by_stop) {
    begin();
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(log, "");
    s.shut_down();
    EXPECT_EQ(log, "") << "nothing resumes inside the call that stops";
    on.run_all();
    EXPECT_EQ(log, "0 ");
    EXPECT_EQ(ready.waiters_now(), 0U);
}

TEST_P(task_operations, SHUT_81_a_result_that_is_there_first_wins) {
    begin();
    ready.set();
    s.shut_down();
    on.run_all();
    EXPECT_EQ(log, "5 ");
}

TEST_P(task_operations, SHUT_81_after_stop_it_does_not_begin) {
    ready.set();
    s.shut_down();
    begin();
    begin();
    EXPECT_EQ(begun, 0);
    EXPECT_EQ(log, "0 0 ");
}

INSTANTIATE_TEST_SUITE_P(all, task_operations,
                         ::testing::Values(operation::read, operation::write, operation::fill, operation::next));

// --- generators ----------------------------------------------------------------------------------------------------------

class alive {
public:
    explicit alive(int& count) noexcept : count_(&count) { ++*count_; }
    alive(const alive&) = delete;
    alive& operator=(const alive&) = delete;
    ~alive() { --*count_; }

private:
    int* count_;
};

generator<int> one_then_wait(event& go, int& living) {
    const alive here(living);
    co_yield 1;
    co_await go.wait();
    co_yield 2;
}
task<> drain(roost::interrupt<generator<int>>& numbers, std::string& log) {
    for (const int* n = co_await numbers.next(); n != nullptr; n = co_await numbers.next()) {
        log += std::to_string(*n) + " ";
    }
    log += "end ";
}

class generators : public ::testing::Test {
protected:
    ~generators() override {
        root.request_close();
        on.run_all();
        EXPECT_TRUE(root.is_closed());
    }
    void run() {
        root.launch("drain", drain(numbers, log));
        on.run_all();
    }

    manual_executor on{"hand"};
    owned_scope root{on, scope_options("root").report_failures()};
    event go;
    int living = 0;
    std::string log;
    shutdown s{"server"};
    roost::interrupt<generator<int>> numbers = s.interrupt(one_then_wait(go, living));
};

TEST_F(generators, SHUT_82_a_pending_next_is_woken_by_stop) {
    run();
    EXPECT_EQ(log, "1 ");
    EXPECT_EQ(living, 1);
    s.shut_down();
    on.run_all();
    EXPECT_EQ(log, "1 end ");
    EXPECT_EQ(living, 0) << "what was asked of it was cancelled, so its locals are gone";
    EXPECT_EQ(go.waiters_now(), 0U);
    run();
    EXPECT_EQ(log, "1 end end ") << "SHUT-19";
}

TEST_F(generators, SHUT_82_without_stop_it_gives_everything) {
    go.set();
    run();
    EXPECT_EQ(log, "1 2 end ");
}

TEST_F(generators, SHUT_82_after_stop_it_is_not_asked) {
    s.shut_down();
    run();
    EXPECT_EQ(log, "end ");
    EXPECT_EQ(living, 0);
}

task<> one(roost::interrupt<generator<int>>& numbers, std::string& log) {
    const int* n = co_await numbers.next();
    log += n == nullptr ? "end " : std::to_string(*n) + " ";
}

TEST_F(generators, SHUT_82_between_two_values_it_is_left_as_it_is) {
    root.launch("one", one(numbers, log));
    on.run_all();
    s.shut_down();
    root.launch("one", one(numbers, log));
    on.run_all();
    EXPECT_EQ(log, "1 end ");
    EXPECT_EQ(living, 1) << "it waits at its first value";
}

// --- what else only a task can await ---------------------------------------------------------------------------------------

class sleeper {
public:
    auto next() { return sleep_for(std::chrono::hours(1)); }
};
task<> sleep_once(shutdown s, std::string& log) {
    auto naps = s.interrupt(sleeper());
    co_await naps.next();
    log += "over ";
}

TEST(task_awaits, SHUT_81_a_sleep_is_ended_by_stop) {
    roost::testing::virtual_time on;
    owned_scope root(on, scope_options("root").report_failures());
    const shutdown s("server");
    std::string log;
    root.launch("sleep", sleep_once(s, log));
    on.run_ready();
    EXPECT_EQ(log, "");
    s.shut_down();
    on.run();
    EXPECT_EQ(log, "over ");
    root.request_close();
    EXPECT_TRUE(root.is_closed());
}

}  // namespace
