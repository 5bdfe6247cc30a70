#include <roost/asio/io_executor.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;
namespace net = roost::detail::net;

class counting_work final : public work {
public:
    explicit counting_work(int& n) noexcept
        : work(+[](work& self) noexcept { ++*static_cast<counting_work&>(self).count_; }), count_(&n) {}

private:
    int* count_;
};

TEST(io_executor, ASIO_11_one_per_context) {
    net::io_context a;
    net::io_context b;
    EXPECT_EQ(&io_executor::of(a), &io_executor::of(a));
    EXPECT_NE(&io_executor::of(a), &io_executor::of(b));
    EXPECT_EQ(&io_executor::of(a).context(), &a);
}

TEST(io_executor, ASIO_11_work_runs_in_run_and_never_inside_post) {
    net::io_context io;
    int count = 0;
    counting_work w(count);
    EXPECT_TRUE(io_executor::of(io).post(w));
    EXPECT_EQ(count, 0);
    EXPECT_FALSE(io_executor::of(io).is_here());
    bool here = false;
    net::post(io, [&] { here = io_executor::of(io).is_here(); });
    io.run();
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(here);
}

// Ends the context that it was posted to, by the thread that runs it, while the posting thread is on its way out.
TEST(io_executor, ASIO_30_a_foreign_thread_posts_the_last_thing_of_a_context) {
    for (int round = 0; round < 300; ++round) {
        auto io = std::make_unique<net::io_context>();
        io_executor& at = io_executor::of(*io);
        auto guard = std::make_optional(net::make_work_guard(*io));
        class last final : public work {
        public:
            explicit last(std::optional<net::executor_work_guard<net::io_context::executor_type>>& g) noexcept
                : work(+[](work& self) noexcept { static_cast<last&>(self).guard_->reset(); }), guard_(&g) {}

        private:
            std::optional<net::executor_work_guard<net::io_context::executor_type>>* guard_;
        } ends(guard);
        std::thread foreign([&] { EXPECT_TRUE(at.post(ends)); });
        io->run();
        io.reset();
        foreign.join();
    }
}

task<> comes_back_from_the_lane() {
    co_await blocking([] {});
}

TEST(io_executor, ASIO_30_a_thread_of_a_lane_brings_the_last_result) {
    blocking_lane lane(2);
    for (int round = 0; round < 300; ++round) {
        auto io = std::make_unique<net::io_context>();
        io_executor::of(*io).set_blocking(&lane);
        run(*io, comes_back_from_the_lane());
        io.reset();
    }
}

TEST(io_executor_death, ASIO_31_blocking_without_a_lane_names_set_blocking) {
    net::io_context io;
    EXPECT_DEATH(run(io, comes_back_from_the_lane()), "io_context.*has no threads for blocking work.*set_blocking");
}

TEST(io_executor, ASIO_11_other_handlers_get_their_turn) {
    net::io_context io;
    bool stop = false;
    int rounds = 0;
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    root.launch("spins", [](bool& end, int& n) -> task<> {
        while (!end) {
            ++n;
            co_await yield();
        }
    }(stop, rounds));
    net::post(io, [&] { net::post(io, [&] { stop = true; }); });
    root.request_close();
    io.run();
    EXPECT_LT(rounds, 1000);
}

TEST(io_executor, ASIO_11_all_threads_of_the_context_help) {
    net::io_context io;
    auto guard = net::make_work_guard(io);
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    latch both(2);
    for (int i = 0; i < 2; ++i) {
        root.launch("meets", [](latch& l) -> task<> {
            l.count_down();
            l.wait_blocking();  // returns only if the other one runs on another thread meanwhile
            co_return;
        }(both));
    }
    root.request_close();
    std::thread other([&] { io.run(); });
    std::thread another([&] { io.run(); });
    root.close_blocking();
    guard.reset();
    other.join();
    another.join();
}

TEST(io_executor, ASIO_12_sleeping_keeps_the_context_running) {
    net::io_context io;
    owned_scope root(io_executor::of(io), scope_options("root").report_failures());
    const time_point start = now();
    root.launch("sleeps", []() -> task<> { co_await sleep_for(3ms); }());
    root.request_close();
    io.run();
    EXPECT_GE(now() - start, 3ms);
    EXPECT_TRUE(root.is_closed());
}

TEST(io_executor, ASIO_14_blocking_runs_on_the_lane_it_was_given) {
    blocking_lane lane(1);
    net::io_context io;
    io_executor::of(io).set_blocking(&lane);
    const auto here = std::this_thread::get_id();
    const auto there = run(
        io, []() -> task<std::thread::id> { co_return co_await blocking(+[] { return std::this_thread::get_id(); }); }());
    EXPECT_NE(here, there);
}

TEST(io_executor, ASIO_8_what_is_posted_to_a_dying_context_still_runs) {
    int count = 0;
    counting_work w(count);
    {
        net::io_context io;
        io_executor::of(io).post(w);
    }
    EXPECT_EQ(count, 1);
}

}  // namespace
