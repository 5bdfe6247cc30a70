#include <roost/asio/asio_driver.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/base/misuse.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define ROOST_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROOST_TEST_THREAD_SANITIZER 1
#endif
#endif

namespace {

#if defined(ROOST_TEST_THREAD_SANITIZER)
constexpr bool has_a_thread_of_its_own = true;
#else
constexpr bool has_a_thread_of_its_own = false;
#endif

using namespace roost;
using namespace std::chrono_literals;
namespace net = roost::detail::net;
using roost::detail::error_code;
using local_socket = net::local::stream_protocol::socket;

static_assert(!std::is_copy_constructible_v<ext::asio_driver>);

class asio_driver : public testing::TestWithParam<unsigned> {
protected:
    ext::asio_driver driver;
    runtime rt{runtime_options().workers(GetParam()).driver(driver).soft_budget(duration(0))};
    net::io_context& io = driver.context();

    [[nodiscard]] bool is_inside() const { return io.get_executor().running_in_this_thread(); }
};

void wait_for(const std::atomic<bool>& what) {
    const time_point give_up = now() + 60s;
    while (!what.load()) {
        ASSERT_LT(now(), give_up);
        std::this_thread::sleep_for(1ms);
    }
}

// --- who runs what ----------------------------------------------------------------------------------------------------------

TEST_P(asio_driver, ASIO_50_handlers_run_on_the_workers_one_at_a_time) {
    constexpr int count = 2000;
    std::atomic<int> inside{0};
    std::atomic<bool> done{false};
    int ran = 0;  // no handler runs beside another one, so no lock is needed
    const auto handler = [&] {
        EXPECT_EQ(++inside, 1);
        EXPECT_NE(runtime::this_worker(), runtime::no_worker);
        EXPECT_FALSE(rt.get_executor().is_here());
        EXPECT_TRUE(rt.get_executor().owns_this_thread());
        --inside;
        if (++ran == 2 * count) {
            done = true;
        }
    };
    const auto from_tasks = [](scope& s, net::io_context& to, std::function<void()> what) -> task<> {
        for (int i = 0; i < count; ++i) {
            s.launch("post", [](net::io_context& into, std::function<void()> f) -> task<> {
                net::post(into, f);
                co_return;
            }(to, what));
        }
        co_return;
    };
    std::thread beside([&] {
        for (int i = 0; i < count; ++i) {
            net::post(io, handler);
        }
    });
    run(rt, with_scope(from_tasks, std::ref(io), std::function<void()>(handler)));
    beside.join();
    wait_for(done);
}

struct resumed_at {
    bool inside = false;
    bool here = true;
    void look(net::io_context& io, executor_ref where) {
        inside = inside || io.get_executor().running_in_this_thread();
        here = here && where->is_here() && runtime::this_worker() != runtime::no_worker;
    }
};

task<> write_some(local_socket& to, int count) {
    net::steady_timer pause(to.get_executor());
    for (int i = 0; i < count; ++i) {
        co_await net::async_write(to, net::buffer("0123456789", 10), use_task);
        if (i % 20 == 0) {
            pause.expires_after(1ms);
            co_await pause.async_wait(use_task);
        }
    }
}
task<> read_some(local_socket& from, int count, net::io_context& io, executor_ref where, resumed_at& seen) {
    std::string text(10, ' ');
    for (int i = 0; i < count; ++i) {
        co_await net::async_read(from, net::buffer(text), use_task);
        seen.look(io, where);
        co_await net::post(io, use_task);
        seen.look(io, where);
        EXPECT_EQ(text, "0123456789");
    }
}
task<> talk(scope& s, net::io_context& io, executor_ref where, resumed_at& seen) {
    local_socket a(io);
    local_socket b(io);
    net::local::connect_pair(a, b);
    const job writer = s.launch("writer", write_some(a, 200));
    co_await read_some(b, 200, io, where, seen);
    co_await writer.join();
}

TEST_P(asio_driver, ASIO_51_a_task_resumes_on_a_worker_outside_the_context) {
    resumed_at seen;
    run(rt, with_scope(talk, std::ref(io), executor_ref(rt), std::ref(seen)));
    EXPECT_FALSE(seen.inside);
    EXPECT_TRUE(seen.here);
}

// --- fairness ---------------------------------------------------------------------------------------------------------------

class endless {
public:
    endless(net::io_context& io, std::shared_ptr<std::atomic<bool>> stops) : io_(&io), stops_(std::move(stops)) {}
    void operator()() const {
        if (!stops_->load()) {
            net::post(*io_, *this);
        }
    }

private:
    net::io_context* io_;
    std::shared_ptr<std::atomic<bool>> stops_;
};

task<> yield_often(int count) {
    for (int i = 0; i < count; ++i) {
        co_await yield();
        if (i % 100 == 0) {
            co_await sleep_for(1ms);
        }
    }
}

TEST_P(asio_driver, ASIO_53_handlers_that_post_themselves_do_not_keep_bodies_from_running) {
    const auto stops = std::make_shared<std::atomic<bool>>(false);
    for (int i = 0; i < 3; ++i) {
        net::post(io, endless(io, stops));
    }
    run(rt, yield_often(1000));
    *stops = true;
}

task<int> yield_until(std::atomic<bool>& what) {
    int yields = 0;
    while (!what.load()) {
        co_await yield();
        ++yields;
    }
    co_return yields;
}

TEST_P(asio_driver, ASIO_53_bodies_that_never_wait_do_not_keep_handlers_from_running) {
    std::atomic<bool> rang{false};
    net::steady_timer timer(io, 5ms);
    timer.async_wait([&](error_code) { net::post(io, [&] { rang = true; }); });
    EXPECT_GT(run(rt, yield_until(rang)), 0);
}

task<> compute_until(std::atomic<bool>& done) {
    const time_point give_up = now() + 30s;
    while (!done.load() && now() < give_up) {}
    co_return;
}
task<> talk_then(net::io_context& io, executor_ref where, std::atomic<bool>& done) {
    resumed_at seen;
    co_await with_scope(talk, std::ref(io), where, std::ref(seen));
    done = true;
}
task<bool> talk_beside(scope& s, net::io_context& io, executor_ref where) {
    std::atomic<bool> done{false};
    const job talking = s.launch("talk", talk_then(io, where, done));
    co_await yield();
    const job computing = s.launch("compute", compute_until(done));
    co_await talking.join();
    co_await computing.join();
    co_return done.load();
}

TEST(asio_driver_of_two, ASIO_54_a_body_that_computes_does_not_hold_up_other_connections) {
    ext::asio_driver driver;
    runtime rt(runtime_options().workers(2).driver(driver).soft_budget(duration(0)));
    const time_point from = now();
    EXPECT_TRUE(run(rt, with_scope(talk_beside, std::ref(driver.context()), executor_ref(rt))));
    EXPECT_LT(now() - from, 20s);
}

// --- timers -----------------------------------------------------------------------------------------------------------------

task<> wait_in_turn(net::io_context& io) {
    net::steady_timer timer(io);
    for (int i = 0; i < 20; ++i) {
        const time_point from = now();
        timer.expires_after(1ms);
        co_await timer.async_wait(use_task);
        EXPECT_GE(now() - from, 1ms);
        const time_point middle = now();
        co_await sleep_for(1ms);
        EXPECT_GE(now() - middle, 1ms);
    }
}
task<> wait_in_turn_beside(scope& s, net::io_context& io) {
    std::atomic<bool> done{false};
    const job busy = s.launch("busy", [](std::atomic<bool>& until) -> task<> { co_await yield_until(until); }(done));
    co_await wait_in_turn(io);
    done = true;
    co_await busy.join();
}

TEST_P(asio_driver, ASIO_55_timers_fire_while_the_workers_are_idle) { run(rt, wait_in_turn(io)); }
TEST_P(asio_driver, ASIO_55_timers_fire_while_a_worker_is_busy) { run(rt, with_scope(wait_in_turn_beside, std::ref(io))); }

// An earlier deadline than the one that the worker waits for.
TEST_P(asio_driver, ASIO_55_timers_overtake_each_other) {
    const auto sleepers = [](scope& s) -> task<> {
        s.daemon("long", sleep_for(1h));
        for (const duration d : {duration(40ms), duration(20ms), duration(1ms)}) {
            s.launch("short", sleep_for(d));
            co_await sleep_for(1ms);
        }
    };
    run(rt, with_scope(sleepers));
}

std::string switches_of_others() {
    std::string all;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        if (thread.path().filename() == std::to_string(::gettid())) {
            continue;
        }
        std::ifstream status(thread.path() / "status");
        for (std::string line; std::getline(status, line);) {
            all += line.find("ctxt_switches") == std::string::npos ? "" : line;
        }
    }
    return all;
}

// Far timers of both kinds are armed, and an operation is under way.
TEST_P(asio_driver, ASIO_55_no_thread_wakes_up_while_nothing_happens) {
    if (has_a_thread_of_its_own) {
        GTEST_SKIP() << "ThreadSanitizer's own thread wakes up";
    }
    local_socket a(io);
    local_socket b(io);
    net::local::connect_pair(a, b);
    std::atomic<bool> reads{false};
    const auto reader = [](scope& s, local_socket& from, std::atomic<bool>& begun) -> task<> {
        char byte = 0;
        s.daemon("sleeper", sleep_for(1h));
        co_await yield();
        begun = true;
        co_await from.async_read_some(net::buffer(&byte, 1), use_task);
    };
    std::thread serving([&] { run(rt, with_scope(reader, std::ref(b), std::ref(reads))); });
    wait_for(reads);
    bool is_quiet = false;
    for (int i = 0; i < 30 && !is_quiet; ++i) {
        const std::string before = switches_of_others();
        std::this_thread::sleep_for(1200ms);
        is_quiet = before == switches_of_others();
    }
    EXPECT_TRUE(is_quiet);
    net::write(a, net::buffer("x", 1));
    serving.join();
}

// --- handlers of the program ------------------------------------------------------------------------------------------------

TEST_P(asio_driver, ASIO_56_stopping_the_context_has_no_effect) {
    resumed_at seen;
    std::atomic<bool> done{false};
    std::thread stopping([&] {
        while (!done.load()) {
            io.stop();
            std::this_thread::sleep_for(100us);
        }
    });
    run(rt, with_scope(talk, std::ref(io), executor_ref(rt), std::ref(seen)));
    net::post(io, [&] { io.stop(); });
    run(rt, with_scope(talk, std::ref(io), executor_ref(rt), std::ref(seen)));
    done = true;
    stopping.join();
}

std::atomic<int> reported{0};
void count_failure(std::string_view what, std::string_view, site where, std::exception_ptr error) noexcept {
    EXPECT_EQ(what, "a handler on asio_driver");
    EXPECT_NE(where.to_string().find("asio_driver_test.cpp"), std::string::npos);
    EXPECT_NE(describe(error).find("by a handler"), std::string::npos);
    ++reported;
}

TEST_P(asio_driver, ASIO_57_a_handler_that_throws_is_reported) {
    ext::asio_driver mine;
    runtime other(runtime_options().workers(GetParam()).driver(mine));
    const failure_sink before = set_failure_sink(count_failure);
    reported = 0;
    for (int i = 0; i < 10; ++i) {
        net::post(mine.context(), [] { throw std::runtime_error("by a handler"); });
    }
    resumed_at seen;
    run(other, with_scope(talk, std::ref(mine.context()), executor_ref(other), std::ref(seen)));
    set_failure_sink(before);
    EXPECT_EQ(reported, 10);
}

// --- the end ----------------------------------------------------------------------------------------------------------------

TEST_P(asio_driver, ASIO_58_a_runtime_ends_while_a_worker_waits_in_the_context_and_operations_are_under_way) {
    auto dropped = std::make_shared<int>(0);
    local_socket a(io);
    local_socket b(io);
    net::local::connect_pair(a, b);
    net::steady_timer timer(io, 1h);
    char byte = 0;
    b.async_read_some(net::buffer(&byte, 1), [dropped](error_code, std::size_t) { ++*dropped; });
    timer.async_wait([dropped](error_code) { ++*dropped; });
    std::this_thread::sleep_for(2ms);  // a worker sleeps in the context by now, or will
    rt.shut_down();
    EXPECT_EQ(*dropped, 0);
    EXPECT_EQ(dropped.use_count(), 3);
}

TEST_P(asio_driver, ASIO_58_the_context_ends_after_the_runtime) {
    auto dropped = std::make_shared<int>(0);
    {
        ext::asio_driver own;
        auto timer = std::make_unique<net::steady_timer>(own.context(), 1h);
        {
            runtime other(runtime_options().workers(GetParam()).driver(own));
            timer->async_wait([dropped](error_code) { ++*dropped; });
            run(other, wait_in_turn(own.context()));
        }
        timer.reset();
    }
    EXPECT_EQ(*dropped, 0);
    EXPECT_EQ(dropped.use_count(), 1);
}

TEST_P(asio_driver, ASIO_59_two_runtimes_with_a_driver_each) {
    ext::asio_driver second;
    runtime other(runtime_options().workers(GetParam()).driver(second));
    resumed_at seen_here;
    resumed_at seen_there;
    std::thread beside(
        [&] { run(other, with_scope(talk, std::ref(second.context()), executor_ref(other), std::ref(seen_there))); });
    run(rt, with_scope(talk, std::ref(io), executor_ref(rt), std::ref(seen_here)));
    beside.join();
    EXPECT_TRUE(seen_here.here && seen_there.here);
    // Operations of the other's context: the task still resumes on its own runtime.
    resumed_at across;
    run(rt, with_scope(talk, std::ref(second.context()), executor_ref(rt), std::ref(across)));
    EXPECT_TRUE(across.here);
}

TEST_P(asio_driver, ASIO_60_a_given_context_is_free_again_afterwards) {
    net::io_context given;
    for (int i = 0; i < 3; ++i) {
        ext::asio_driver around(given);
        EXPECT_EQ(&around.context(), &given);
        runtime other(runtime_options().workers(GetParam()).driver(around));
        resumed_at seen;
        run(other, with_scope(talk, std::ref(given), executor_ref(other), std::ref(seen)));
        EXPECT_TRUE(io_executor::of(given).is_single_threaded());
        EXPECT_THROW(run(given, wait_in_turn(given)), misuse);
    }
    EXPECT_FALSE(io_executor::of(given).is_single_threaded());
    run(given, wait_in_turn(given));
    given.restart();
    given.run();  // returns: nothing of the drivers is left that keeps it from returning
}

TEST(asio_driver_twice, ASIO_60_a_second_driver_of_a_context_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    net::io_context given;
    const ext::asio_driver first(given);
    EXPECT_DEATH(ext::asio_driver second(given), "another driver, made at .*asio_driver_test.cpp.*, drives this io_context");
}

INSTANTIATE_TEST_SUITE_P(workers, asio_driver, testing::Values(1U, 2U));

}  // namespace
