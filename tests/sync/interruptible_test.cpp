#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/waiter_queue.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace {

using roost::event;
using roost::mutex;
using roost::wait_status;
using roost::with_deadline;
using roost::with_stop;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hand_timers;
using sync_testing::hosted;

hosted wait_with_stop(hand_executor&, event& e, std::stop_token token, wait_status& how) {
    auto result = co_await with_stop(e.wait(), token);
    how = result.status();
}

TEST(interruptible, SYNC_60_stop_ends_the_wait_on_the_executor) {
    hand_executor executor;
    event e;
    std::stop_source source;
    wait_status how = wait_status::would_wait;
    hosted h = wait_with_stop(executor, e, source.get_token(), how);
    source.request_stop();
    EXPECT_EQ(how, wait_status::would_wait) << "nothing is resumed inside request_stop()";
    EXPECT_EQ(e.waiters_now(), 0U);
    executor.run();
    EXPECT_EQ(how, wait_status::cancelled);
    e.set();
}

TEST(interruptible, SYNC_60_wake_before_stop_wins) {
    hand_executor executor;
    event e;
    std::stop_source source;
    wait_status how = wait_status::would_wait;
    hosted h = wait_with_stop(executor, e, source.get_token(), how);
    e.set();
    source.request_stop();
    EXPECT_EQ(executor.run(), 1);
    EXPECT_EQ(how, wait_status::done);
}

TEST(interruptible, SYNC_61_stop_before_the_wait) {
    hand_executor executor;
    event e;
    std::stop_source source;
    source.request_stop();
    wait_status how = wait_status::would_wait;
    hosted h = wait_with_stop(executor, e, source.get_token(), how);
    EXPECT_EQ(how, wait_status::cancelled) << "it did not even suspend";
    EXPECT_EQ(e.waiters_now(), 0U);
    e.set();
    how = wait_status::would_wait;
    hosted second = wait_with_stop(executor, e, source.get_token(), how);
    EXPECT_EQ(how, wait_status::done) << "what is ready at once wins over stop";
}

TEST(interruptible, SYNC_62_coroutine_without_executor_is_given_one) {
    hand_executor executor;
    roost::ext::inline_executor here;
    event e;
    std::stop_source source;
    wait_status how = wait_status::would_wait;
    [](event& ev, std::stop_token token, roost::executor& where, wait_status& h) -> fire {
        auto result = co_await with_stop(ev.wait(), token, where);
        h = result.status();
    }(e, source.get_token(), executor, how);
    wait_status inline_how = wait_status::would_wait;
    [](event& ev, std::stop_token token, roost::executor& where, wait_status& h) -> fire {
        auto result = co_await with_stop(ev.wait(), token, where);
        h = result.status();
    }(e, source.get_token(), here, inline_how);
    source.request_stop();
    EXPECT_EQ(inline_how, wait_status::cancelled) << "inline_executor was an explicit choice";
    EXPECT_EQ(how, wait_status::would_wait);
    executor.run();
    EXPECT_EQ(how, wait_status::cancelled);
}

TEST(interruptible, SYNC_63_deadline_claims_the_wait_as_expired) {
    hand_executor executor;
    hand_timers timers;
    executor.set_timers(&timers);
    event e;
    wait_status how = wait_status::would_wait;
    hosted h = [](hand_executor&, event& ev, roost::time_point t, wait_status& c) -> hosted {
        auto result = co_await with_deadline(ev.wait(), t);
        c = result.status();
    }(executor, e, timers.now() + std::chrono::seconds(1), how);
    timers.advance(std::chrono::milliseconds(999));
    EXPECT_EQ(executor.run(), 0);
    timers.advance(std::chrono::milliseconds(1));
    EXPECT_EQ(how, wait_status::would_wait) << "nothing is resumed inside a timer";
    EXPECT_EQ(executor.run(), 1);
    EXPECT_EQ(how, wait_status::expired);
    EXPECT_EQ(e.waiters_now(), 0U);
}

TEST(interruptible, SYNC_63_wake_in_time_disarms_the_timer) {
    hand_executor executor;
    hand_timers timers;
    event e;
    wait_status how = wait_status::would_wait;
    hosted h = [](hand_executor& ex, event& ev, hand_timers& t, wait_status& c) -> hosted {
        auto result = co_await with_deadline(ev.wait(), t.now() + std::chrono::seconds(1), ex, t);
        c = result.status();
    }(executor, e, timers, how);
    EXPECT_FALSE(timers.is_empty());
    e.set();
    executor.run();
    EXPECT_EQ(how, wait_status::done);
    EXPECT_TRUE(timers.is_empty());
}

TEST(interruptible, SYNC_64_stop_and_deadline_nest_and_values_come_through) {
    hand_executor executor;
    hand_timers timers;
    executor.set_timers(&timers);
    mutex m;
    std::stop_source source;
    int got = 0;
    int missed = 0;
    const auto contend = [&](hand_executor&) -> hosted {
        auto result =
            co_await with_deadline(with_stop(m.lock(), source.get_token()), timers.now() + std::chrono::seconds(1));
        const bool is_held = result && result->has_value() && (*result)->owns_lock();
        (is_held ? got : missed) += 1;
    };
    auto held = m.try_lock();
    hosted first = contend(executor);
    held.unlock();
    executor.run();
    EXPECT_EQ(got, 1);
    EXPECT_FALSE(m.is_locked());
    held = m.try_lock();
    hosted second = contend(executor);
    hosted third = contend(executor);
    timers.advance(std::chrono::seconds(2));
    source.request_stop();
    executor.run();
    EXPECT_EQ(missed, 2);
    held.unlock();
    EXPECT_FALSE(m.is_locked()) << "those who gave up hold nothing";
    EXPECT_TRUE(timers.is_empty());
}

// Release, stop and the coroutine's start race; the lock is never lost and never doubled.
TEST(interruptible, SYNC_65_stop_races_hand_over) {
    const long rounds = sync_testing::rounds(3000);
    mutex m;
    long got = 0;
    long stopped = 0;
    for (long i = 0; i < rounds; ++i) {
        hand_executor executor;
        std::stop_source source;
        auto held = m.try_lock();
        ASSERT_TRUE(held);
        std::thread stopper([&] { source.request_stop(); });
        hosted h = [](hand_executor&, mutex& mm, std::stop_token token, long& g, long& s) -> hosted {
            auto result = co_await with_stop(mm.lock(), token);
            (result ? g : s) += 1;
        }(executor, m, source.get_token(), got, stopped);
        held.unlock();
        stopper.join();
        while (!h.done()) {
            executor.run();
        }
        ASSERT_FALSE(m.is_locked());
    }
    EXPECT_EQ(got + stopped, rounds);
}

}  // namespace
