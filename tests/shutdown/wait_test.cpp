// Waiting for stop.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <memory>

#include "../sync/coroutines.hpp"

namespace {

using roost::guard;
using roost::shutdown;
using sync_testing::owned;

owned await_completion(roost::shutdown_completion& c, bool& done) {
    co_await c;
    done = true;
}

owned await_notice(roost::shutdown_notice n, bool& done) {
    co_await n;
    done = true;
}

TEST(notice, SHUT_9_wakes_awaiters_without_waiting_for_guards) {
    const shutdown s;
    const shutdown c = s.child();
    const guard g = c.guard();
    bool stopped = false;
    bool done = false;
    auto completion = c.completion();
    auto a = await_notice(c.shutting_down(), stopped);
    auto b = await_completion(completion, done);
    s.shut_down();
    EXPECT_TRUE(stopped);
    EXPECT_FALSE(done);
    c.cancel();
    EXPECT_FALSE(done);
    b.destroy();
}

TEST(notice, SHUT_46_ends_when_the_node_can_no_longer_be_stopped) {
    const shutdown s;
    auto c = std::make_unique<shutdown>(s.child());
    guard g = c->guard();
    bool stopped = false;
    auto waiting = await_notice(c->shutting_down(), stopped);
    c.reset();
    EXPECT_FALSE(stopped);
    g.reset();
    EXPECT_TRUE(stopped);
}

}  // namespace
