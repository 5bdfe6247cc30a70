// Completions: awaited, blocked on, with deadlines.

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/interruptible.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "../sync/coroutines.hpp"

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

owned await_completion(roost::shutdown_completion& c, bool& done) {
    co_await c;
    done = true;
}

TEST(completion, SHUT_6_25_is_awaitable_and_requests_nothing) {
    const shutdown s;
    guard g = s.guard();
    bool done = false;
    auto c = s.completion();
    auto waiting = await_completion(c, done);
    EXPECT_EQ(s.state(), shutdown_state::running);
    s.shut_down();
    EXPECT_FALSE(done);
    g.reset();
    EXPECT_TRUE(done);
    EXPECT_TRUE(c.is_resolved());
}

owned await_handle(shutdown s, bool& done) {
    co_await std::move(s);
    done = true;
}

TEST(completion, SHUT_6_awaiting_a_handle_consumes_it) {
    const shutdown s;
    bool done = false;
    auto waiting = await_handle(s, done);
    EXPECT_FALSE(done);
    EXPECT_EQ(s.state(), shutdown_state::running);
    s.shut_down();
    EXPECT_TRUE(done);
}

TEST(regression, SWB_6_awaiting_the_last_root_handle_ends) {
    bool done = false;
    auto at_once = await_handle(shutdown(), done);
    EXPECT_TRUE(done);
    done = false;
    shutdown s;
    guard g = s.guard();
    auto waiting = await_handle(std::move(s), done);
    EXPECT_FALSE(done);
    g.reset();
    EXPECT_TRUE(done);
}

TEST(completion, SHUT_72_SHUT_7_blocks_a_thread_and_sees_its_work) {
    const shutdown s;
    guard g = s.guard();
    int written = 0;
    std::thread worker([&written, g = std::move(g)]() mutable {
        written = 42;  // not atomic
        g.reset();
    });
    s.shut_down().wait_blocking();
    EXPECT_EQ(written, 42);
    worker.join();
}

TEST(completion, SHUT_25_keeps_the_node_while_unresolved) {
    const shutdown root;
    auto child = std::make_unique<shutdown>(root.child());
    auto done = child->completion();
    auto stopped = child->shutting_down();
    child.reset();
    EXPECT_FALSE(stopped.is_resolved());
    root.shut_down();
    EXPECT_TRUE(done.is_resolved());
}

TEST(completion, SHUT_26_polled_then_blocked_on) {
    const shutdown s;
    guard g = s.guard();
    auto c = s.shut_down();
    EXPECT_FALSE(c.is_resolved());
    EXPECT_FALSE(c.is_resolved());
    EXPECT_FALSE(c.wait_blocking(roost::now()));
    std::thread worker([g = std::move(g)]() mutable { g.reset(); });
    c.wait_blocking();
    EXPECT_TRUE(c.is_resolved());
    worker.join();
}

TEST(completion, SHUT_29_awaited_ones_stay_resolved) {
    const shutdown s;
    bool done = false;
    auto c = s.shut_down();
    auto waiting = await_completion(c, done);
    ASSERT_TRUE(done);
    const guard late = s.guard();
    EXPECT_TRUE(c.is_resolved());
    EXPECT_FALSE(s.completion().is_resolved());
}

hosted await_hosted(roost::executor&, roost::shutdown_completion c, bool& done) {
    co_await c;
    done = true;
}

TEST(completion, SHUT_29_a_claimed_waiter_is_resolved_whatever_comes) {
    hand_executor where;
    const shutdown s;
    guard g = s.guard();
    bool first = false;
    bool second = false;
    auto a = await_hosted(where, s.shut_down(), first);
    g.reset();                      // claims the first
    const guard late = s.guard();   // before it has run
    auto b = await_hosted(where, s.completion(), second);
    EXPECT_FALSE(first);
    where.run();
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
}

hosted await_until(roost::executor&, shutdown s, roost::time_point limit, int& result) {
    auto how = co_await roost::with_deadline(s.completion().wait(), limit);
    result = how ? 1 : 2;
}

TEST(completion, SHUT_25_with_a_deadline_in_a_coroutine) {
    hand_executor where;
    sync_testing::hand_timers timers;
    where.set_timers(&timers);
    const shutdown s;
    int result = 0;
    auto waiting = await_until(where, s, timers.now() + std::chrono::seconds(1), result);
    timers.advance(std::chrono::seconds(2));
    where.run();
    EXPECT_EQ(result, 2);
    auto again = await_until(where, s, timers.now() + std::chrono::seconds(1), result);
    s.shut_down();
    where.run();
    EXPECT_EQ(result, 1);
}

TEST(completion, SHUT_67_an_abandoned_await_leaves_the_queue) {
    const shutdown s;
    bool done = false;
    auto c = s.completion();
    {
        auto waiting = await_completion(c, done);
        waiting.destroy();
    }
    s.shut_down();
    EXPECT_FALSE(done);
}

TEST(completion, SHUT_68_drain_then_cancel_then_abort) {
    const shutdown s;
    const guard stuck = s.guard();
    EXPECT_FALSE(s.shut_down().wait_blocking(roost::now()));
    s.cancel();
    EXPECT_EQ(s.observe().level(), roost::level::cancel);
    s.abort();
    EXPECT_EQ(stuck.observe().level(), roost::level::abort);
    EXPECT_EQ(s.state(), shutdown_state::shutting_down);
}

}  // namespace
