#include <roost/sync/condition.hpp>
#include <roost/sync/interruptible.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using roost::condition;
using roost::mutex;
using roost::wait_status;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

static_assert(sizeof(condition) <= 32);

fire wait_for(mutex& m, condition& c, std::vector<int>& log, int id) {
    auto held = co_await m.lock();
    co_await c.wait(held);
    log.push_back(held.owns_lock() && m.is_locked() ? id : -id);
}

hosted wait_hosted(hand_executor& /*runs it*/, mutex& m, condition& c) {
    auto held = co_await m.lock();
    co_await c.wait(held);
}

TEST(condition, SYNC_120_wait_releases_the_mutex_and_resumes_with_it) {
    mutex m;
    condition c("not empty");
    std::vector<int> log;
    wait_for(m, c, log, 1);
    EXPECT_FALSE(m.is_locked());
    EXPECT_EQ(c.waiters_now(), 1U);
    c.notify_one();
    EXPECT_EQ(log, (std::vector<int>{1}));
    EXPECT_FALSE(m.is_locked());
    c.notify_one();
    c.notify_all();
}

TEST(condition, SYNC_121_notified_under_the_mutex_it_queues_for_it) {
    mutex m;
    condition c;
    std::vector<int> log;
    wait_for(m, c, log, 1);
    wait_for(m, c, log, 2);
    auto held = m.try_lock();
    c.notify_all();
    EXPECT_TRUE(log.empty()) << "nobody runs without the mutex";
    EXPECT_EQ(c.waiters_now(), 0U);
    EXPECT_EQ(m.waiters_now(), 2U);
    held.unlock();
    EXPECT_EQ(log, (std::vector<int>{1, 2}));
}

TEST(condition, SYNC_122_notify_one_is_first_in_first_out) {
    mutex m;
    condition c;
    std::vector<int> log;
    wait_for(m, c, log, 1);
    wait_for(m, c, log, 2);
    c.notify_one();
    EXPECT_EQ(log, (std::vector<int>{1}));
    c.notify_one();
    EXPECT_EQ(log, (std::vector<int>{1, 2}));
}

TEST(condition, SYNC_123_cancelled_here_or_in_the_queue_of_the_mutex) {
    mutex m;
    condition c;
    const auto waits = [](mutex& mm, condition& cc) -> owned {
        auto held = co_await mm.lock();
        co_await cc.wait(held);
    };
    owned first = waits(m, c);
    first.destroy();
    EXPECT_EQ(c.waiters_now(), 0U);
    owned second = waits(m, c);
    auto held = m.try_lock();
    c.notify_one();
    EXPECT_EQ(m.waiters_now(), 1U);
    second.destroy();
    EXPECT_EQ(m.waiters_now(), 0U);
    held.unlock();
    EXPECT_FALSE(m.is_locked());
}

TEST(condition, SYNC_124_mutex_of_a_waiter_that_never_ran_is_passed_on) {
    mutex m;
    condition c;
    hand_executor executor;
    hosted h = [](hand_executor&, mutex& mm, condition& cc) -> hosted {
        auto held = co_await mm.lock();
        co_await cc.wait(held);
    }(executor, m, c);
    c.notify_one();
    EXPECT_TRUE(m.is_locked());
    executor.forget();
    h.destroy();
    EXPECT_FALSE(m.is_locked());
}

owned wait_owned(mutex& m, condition& c) {
    auto held = co_await m.lock();
    co_await c.wait(held);
}

TEST(condition, SYNC_128_cancelled_in_the_queue_of_the_mutex_the_notification_goes_to_the_next) {
    mutex m;
    condition c;
    std::vector<int> log;
    owned first = wait_owned(m, c);
    wait_for(m, c, log, 2);
    wait_for(m, c, log, 3);
    auto held = m.try_lock();
    c.notify_one();
    first.destroy();
    held.unlock();
    EXPECT_EQ(log, (std::vector<int>{2})) << "one notification, one of them";
    c.notify_one();
    EXPECT_EQ(log, (std::vector<int>{2, 3}));
    EXPECT_FALSE(m.is_locked());
}

TEST(condition, SYNC_128_stopped_in_the_queue_of_the_mutex_the_notification_goes_to_the_next) {
    mutex m;
    condition c;
    hand_executor executor;
    std::stop_source source;
    std::vector<int> log;
    hosted first = [](hand_executor&, mutex& mm, condition& cc, std::stop_token t) -> hosted {
        auto held = co_await mm.lock();
        static_cast<void>(co_await roost::with_stop(cc.wait(held), t));
    }(executor, m, c, source.get_token());
    wait_for(m, c, log, 2);
    auto held = m.try_lock();
    c.notify_one();
    source.request_stop();
    EXPECT_EQ(executor.run(), 1);
    held.unlock();
    EXPECT_EQ(log, (std::vector<int>{2}));
}

// One of two that wait is notified and never runs.
void notify_one_that_never_runs(void (condition::*notify)() noexcept) {
    mutex m;
    condition c;
    hand_executor executor;
    std::vector<int> log;
    hosted first = wait_hosted(executor, m, c);
    wait_for(m, c, log, 2);
    (c.*notify)();
    executor.forget();
    first.destroy();
    EXPECT_EQ(log, (std::vector<int>{2}));
    EXPECT_FALSE(m.is_locked());
}

TEST(condition, SYNC_128_of_one_that_never_ran_too) { notify_one_that_never_runs(&condition::notify_one); }

TEST(condition, SYNC_124_notified_with_all_it_leaves_the_mutex) { notify_one_that_never_runs(&condition::notify_all); }

TEST(condition, SYNC_128_one_notified_with_all_has_nothing_to_pass_on) {
    mutex m;
    condition c;
    std::vector<int> log;
    owned first = wait_owned(m, c);
    wait_for(m, c, log, 2);
    auto held = m.try_lock();
    c.notify_all();
    held.unlock();
    first = owned();
    EXPECT_EQ(log, (std::vector<int>{2}));
    first = wait_owned(m, c);
    held = m.try_lock();
    c.notify_all();
    owned later = [](condition& cc, mutex::guard& h) -> owned { co_await cc.wait(h); }(c, held);
    first.destroy();
    EXPECT_EQ(c.waiters_now(), 1U) << "whoever came after notify_all is not woken by it";
    later.destroy();
}

TEST(condition, SYNC_129_destroyed_when_everybody_was_notified) {
    mutex m;
    auto c = std::make_unique<condition>();
    hand_executor executor;
    std::stop_source source;
    std::vector<int> log;
    wait_status how = wait_status::would_wait;
    hosted first = [](hand_executor&, mutex& mm, condition& cc, std::stop_token t, wait_status& status) -> hosted {
        auto held = co_await mm.lock();
        status = (co_await roost::with_stop(cc.wait(held), t)).status();
    }(executor, m, *c, source.get_token(), how);
    wait_for(m, *c, log, 2);
    auto held = m.try_lock();
    c->notify_all();
    c.reset();
    source.request_stop();
    EXPECT_EQ(executor.run(), 1);
    EXPECT_EQ(how, wait_status::cancelled);
    held.unlock();
    EXPECT_EQ(log, (std::vector<int>{2}));
    EXPECT_FALSE(m.is_locked());
}

TEST(condition, SYNC_19_waits_on_the_condition_and_then_on_the_mutex) {
    mutex m("accounts");
    condition c("not empty");
    auto held = m.try_lock();
    condition::operation waiting = c.wait(held);
    ASSERT_TRUE(waiting.start(roost::ext::resume_target(nullptr, +[](roost::ext::work&) noexcept {}, {})));
    EXPECT_EQ(waiting.waits_on().name(), "not empty");
    held = m.try_lock();
    c.notify_all();
    EXPECT_EQ(waiting.waits_on().kind(), "mutex");
    EXPECT_EQ(waiting.waits_on().name(), "accounts");
    EXPECT_TRUE(waiting.try_cancel());
}

TEST(condition, SYNC_125_stopped_wait_holds_nothing) {
    mutex m;
    condition c;
    hand_executor executor;
    std::stop_source source;
    bool owns = true;
    wait_status how = wait_status::would_wait;
    hosted h = [](hand_executor&, mutex& mm, condition& cc, std::stop_token t, bool& o, wait_status& status) -> hosted {
        auto held = co_await mm.lock();
        auto result = co_await roost::with_stop(cc.wait(held), t);
        status = result.status();
        o = held.owns_lock();
    }(executor, m, c, source.get_token(), owns, how);
    source.request_stop();
    executor.run();
    EXPECT_EQ(how, wait_status::cancelled);
    EXPECT_FALSE(owns);
    EXPECT_FALSE(m.is_locked());
}

TEST(condition, SYNC_126_blocking_forms) {
    mutex m;
    condition c;
    auto held = m.lock_blocking();
    EXPECT_FALSE(c.wait_blocking(held, roost::now() + std::chrono::milliseconds(2)));
    EXPECT_TRUE(held.owns_lock());
    int value = 0;
    std::thread producer([&] {
        for (int i = 1; i <= 300; ++i) {
            auto mine = m.lock_blocking();
            c.wait_blocking(mine, [&] { return value == 0; });
            value = i;
            c.notify_all();
        }
    });
    for (int i = 1; i <= 300; ++i) {
        c.wait_blocking(held, [&] { return value != 0; });
        EXPECT_EQ(value, i);
        value = 0;
        c.notify_all();
    }
    held.unlock();
    producer.join();
}

TEST(condition, SYNC_126_predicate_and_deadline) {
    mutex m;
    condition c;
    auto held = m.lock_blocking();
    EXPECT_FALSE(c.wait_blocking(held, [] { return false; }, roost::now() + std::chrono::milliseconds(2)));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(c.wait_blocking(held, [] { return true; }, roost::time_point::min())) << "what is true is not waited for";
    int looks = 0;
    EXPECT_TRUE(c.wait_blocking(held, [&] { return ++looks == 2; }, roost::time_point::min())) << "the last look counts";
    bool ready = false;
    std::thread other([&] {
        auto mine = m.lock_blocking();
        ready = true;
        c.notify_one();
    });
    EXPECT_TRUE(c.wait_blocking(held, [&] { return ready; }, roost::no_deadline));
    held.unlock();
    other.join();
}

TEST(condition_death, SYNC_127_misuse_is_named) {
    EXPECT_DEATH(
        {
            condition c("not empty");
            mutex::guard nothing;
            c.wait_blocking(nothing);
        },
        "condition 'not empty'.*waited for with a guard that holds no mutex");
    EXPECT_DEATH(
        {
            mutex m;
            std::vector<int> log;
            condition c("not empty");
            wait_for(m, c, log, 1);
        },
        "condition 'not empty'.*destroyed while 1 waiter was still queued");
}

}  // namespace
