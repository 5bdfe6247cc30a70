// interrupt<T>: awaitables.

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "../sync/coroutines.hpp"

namespace {

using roost::guard;
using roost::shutdown;
using roost::shutdown_state;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

hosted await_event(roost::executor&, shutdown s, roost::event& e, std::string& log) {
    auto result = co_await s.interrupt(e.wait());
    log += result ? "value " : "stop ";
}

TEST(interrupt, SHUT_16_gives_the_value_or_nothing) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    auto a = await_event(where, s, e, log);
    e.set();
    where.run();
    EXPECT_EQ(log, "value ");
    e.reset();
    auto b = await_event(where, s, e, log);
    s.shut_down();
    EXPECT_EQ(log, "value ");  // posted, not run inside shut_down()
    where.run();
    EXPECT_EQ(log, "value stop ");
    EXPECT_EQ(e.waiters_now(), 0U);
}

TEST(interrupt, SHUT_20_after_stop_the_inner_await_never_begins) {
    hand_executor where;
    const shutdown s;
    s.shut_down();
    roost::event e("set", true);
    std::string log;
    auto a = await_event(where, s, e, log);
    EXPECT_EQ(log, "stop ");
}

TEST(interrupt, SHUT_20_a_value_that_was_there_first_wins) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    auto a = await_event(where, s, e, log);
    e.set();
    s.shut_down();
    where.run();
    EXPECT_EQ(log, "value ");
}

TEST(interrupt, SHUT_19_terminal_for_ever) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    s.shut_down();
    auto a = await_event(where, s, e, log);
    e.set();
    auto b = await_event(where, s, e, log);
    EXPECT_EQ(log, "stop stop ");
}

TEST(interrupt, SHUT_21_an_ancestors_stop_wakes_it) {
    hand_executor where;
    auto s = std::make_unique<shutdown>();
    const shutdown c = s->child().child();
    roost::event e;
    std::string log;
    auto a = await_event(where, c, e, log);
    s.reset();  // the last root handle
    where.run();
    EXPECT_EQ(log, "stop ");
}

// A guard keeps the child running for its interrupts after the last handle is gone; then they end.
TEST(interrupt, SHUT_23_46_ends_when_the_node_is_gone) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    auto c = std::make_unique<shutdown>(s.child());
    guard g = c->guard();
    auto wrapped = c->interrupt(1);
    const auto later = c->interrupt(e.wait());
    auto a = await_event(where, *c, e, log);  // holds a handle in its frame
    c.reset();
    EXPECT_FALSE(wrapped.is_stopped());
    e.set();
    where.run();
    EXPECT_EQ(log, "value ");
    a.destroy();
    EXPECT_FALSE(wrapped.is_stopped());
    g.reset();
    EXPECT_TRUE(wrapped.is_stopped());
    EXPECT_EQ(s.state(), shutdown_state::running);
    EXPECT_TRUE(later.is_stopped());
    const auto chained = std::move(wrapped).guarded();  // SHUT-22: holds no guard, silently
    EXPECT_EQ(s.guard_count(), 0U);
}

hosted await_wrapped(roost::executor&, roost::interrupt<roost::event::operation> i, std::string& log) {
    auto result = co_await i;
    log += result ? "value " : "stop ";
}

TEST(interrupt, SHUT_46_a_pending_one_is_woken_when_the_node_goes) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    auto c = std::make_unique<shutdown>(s.child());
    guard g = c->guard();
    auto a = await_wrapped(where, c->interrupt(e.wait()), log);
    c.reset();
    where.run();
    EXPECT_EQ(log, "");
    g.reset();
    where.run();
    EXPECT_EQ(log, "stop ");
}

TEST(interrupt, SHUT_46_an_unresolved_completion_keeps_it_running) {
    const shutdown s;
    auto c = std::make_unique<shutdown>(s.child());
    const auto i = c->interrupt(0);
    auto done = std::make_unique<roost::shutdown_completion>(c->completion());
    c.reset();
    EXPECT_FALSE(i.is_stopped());
    done.reset();
    EXPECT_TRUE(i.is_stopped());
}

TEST(interrupt, SHUT_46_a_live_child_keeps_it_running) {
    const shutdown s;
    auto c = std::make_unique<shutdown>(s.child());
    const auto i = c->interrupt(0);
    auto below = std::make_unique<shutdown>(c->child());
    const auto deeper = below->interrupt(0);
    c.reset();
    EXPECT_FALSE(i.is_stopped());
    below.reset();
    EXPECT_TRUE(deeper.is_stopped());
    EXPECT_TRUE(i.is_stopped());
}

TEST(interrupt, SHUT_22_chains_a_guard) {
    const shutdown s;
    auto i = s.interrupt(std::string("x")).guarded();
    EXPECT_EQ(s.guard_count(), 1U);
    const std::string inner = std::move(i).into_inner();
    EXPECT_EQ(inner, "x");
    EXPECT_EQ(s.guard_count(), 0U);
}

TEST(interrupt, SHUT_24_equality_and_access) {
    const shutdown s;
    const shutdown t;
    EXPECT_EQ(s.interrupt(1), s.interrupt(1));
    EXPECT_FALSE(s.interrupt(1) == s.interrupt(2));
    EXPECT_FALSE(s.interrupt(1) == t.interrupt(1));
    auto i = s.interrupt(std::string("abc"));
    EXPECT_EQ(i->size(), 3U);
    EXPECT_EQ(*i, "abc");
}

// --- without an executor of its own ------------------------------------------------

owned await_on(shutdown s, roost::executor& where, roost::event& e, std::string& log) {
    auto result = co_await s.interrupt(e.wait()).on(where);
    log += result ? "value " : "stop ";
}

TEST(interrupt, SHUT_69_is_given_an_executor) {
    hand_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    auto a = await_on(s, where, e, log);
    s.shut_down();
    EXPECT_EQ(log, "");
    where.run();
    EXPECT_EQ(log, "stop ");
}

TEST(interrupt, SHUT_69_inline_is_a_choice) {
    roost::ext::inline_executor where;
    const shutdown s;
    roost::event e;
    std::string log;
    auto a = await_on(s, where, e, log);
    s.shut_down();
    EXPECT_EQ(log, "stop ");
}

hosted take_permit(roost::executor&, shutdown s, roost::semaphore& permits, std::string& log) {
    auto got = co_await s.interrupt(permits.acquire());
    log += got ? "value " : "stop ";
}

TEST(interrupt, SHUT_21_a_withdrawn_wait_takes_nothing) {
    hand_executor where;
    const shutdown s;
    roost::semaphore permits(1);
    std::string log;
    {
        auto held = permits.try_acquire();
        auto a = take_permit(where, s, permits, log);
        s.shut_down();
        where.run();
        EXPECT_EQ(log, "stop ");
        EXPECT_EQ(permits.available(), 0U);
    }
    EXPECT_EQ(permits.available(), 1U);
}

}  // namespace
