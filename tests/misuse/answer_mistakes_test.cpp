// Mistakes with answers, joins, hooks and times. Each is named when it happens: by the failure sink where the program can go on, by an exception
// where it can catch one, by the last sentence of the program where it cannot go on. docs/guide/mistakes.md lists them.

#include <roost/base/misuse.hpp>
#include <roost/flow/select.hpp>
#include <roost/pool/pool.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"
#include "heard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using misuse_tests::heard;

task<> for_ever(event& e) { co_await e.wait(); }

std::string text_of(const std::exception_ptr& e) { return e ? describe(e) : "no error"; }

// --- answers without a value -------------------------------------------------------------------------------------------------
TEST(mistakes, POOL_102_the_value_of_a_refused_acquire_is_named) {
    pool<int> p(pool_options(1, "connections"), [] { return 1; });
    static_cast<void>(p.close_blocking());
    auto refused = p.acquire_blocking();
    EXPECT_FALSE(refused);
    EXPECT_DEATH(static_cast<void>(*refused), "acquired: it holds no value .closed.: .*pool 'connections'");
    EXPECT_DEATH(static_cast<void>(refused.operator->()), "it holds no value");
    auto empty = p.try_acquire();
    EXPECT_DEATH(static_cast<void>(*empty), "it holds no value");
}

TEST(mistakes, POOL_102_an_empty_handle_and_a_moved_pool_are_named) {
    pool<int> p(pool_options(1, "connections"), [] { return 1; });
    pooled<int> handle = p.acquire_blocking().value();
    const pooled<int> other = std::move(handle);
    EXPECT_DEATH(static_cast<void>(*handle), "pooled: this handle holds no resource: it was moved from");
    EXPECT_DEATH(static_cast<void>(handle.operator->()), "moved from");
    const pool<int> elsewhere = std::move(p);
    EXPECT_DEATH(static_cast<void>(p.stats()), "pool: this pool was moved from");
    EXPECT_DEATH(static_cast<void>(p.try_acquire()), "pool: this pool was moved from");
}

TEST(mistakes, SYNC_195_the_value_of_a_closed_channel_is_named) {
    channel<int> c(1, "orders");
    c.close();
    auto none = c.try_receive();
    EXPECT_DEATH(static_cast<void>(*none), "channel receive: it holds no value .closed.");
    EXPECT_THROW(static_cast<void>(none.value()), error);
}

task<> asks_wrong_clause(event& set, event& never, std::string& said) {
    auto got = co_await select(never.wait(), set.wait());
    try {
        static_cast<void>(got.get<0>());
    } catch (const std::bad_variant_access& e) {
        said = e.what();
    }
}
TEST(mistakes, JOB_143_a_select_names_the_clause_that_happened) {
    rig::stage s;
    event set("set", true);
    event never("never");
    std::string said;
    s.play(asks_wrong_clause(set, never, said));
    EXPECT_EQ(said, "select: get<0>() was called, but clause 1 happened; write switch (got.index())");
}

// --- waits that cannot end ---------------------------------------------------------------------------------------------------
task<> joins(job& other) { co_await other.join(); }
task<> sleeps() { co_await sleep_for(std::chrono::hours(1)); }
TEST(mistakes, JOB_142_jobs_that_join_each_other_are_named) {
    const heard h;
    rig::stage s;
    job a;
    job b;
    job c;
    a = s.start(joins(b), "a");
    b = s.start(joins(c), "b");
    c = s.start(joins(a), "c");
    s.run();
    EXPECT_EQ(c.state(), job_state::failed) << "the last one finds the others waiting";
    const std::string text = text_of(c.error());
    EXPECT_NE(
        text.find("job 'c' waits for job 'a', which waits for job 'b' and that for job 'c': none of them could ever end"),
        std::string::npos)
        << text;
    EXPECT_EQ(a.state(), job_state::completed);
    EXPECT_EQ(b.state(), job_state::completed);
}
TEST(mistakes, JOB_142_a_chain_without_a_cycle_is_joined) {
    rig::stage s;
    event e;
    job first = s.start(for_ever(e), "first");
    job second = s.start(joins(first), "second");
    job third = s.start(joins(second), "third");
    s.run();
    job fourth = s.play(joins(third), "fourth");
    EXPECT_FALSE(fourth.is_finished());
    e.set();
    s.run();
    EXPECT_EQ(fourth.state(), job_state::completed);
    job sleeper = s.start(sleeps(), "sleeper");
    job waiter = s.start(joins(sleeper), "waiter");
    s.run();
    const job last = s.play(joins(waiter), "last");
    EXPECT_FALSE(last.is_finished());
    s.executor.advance(std::chrono::hours(1));
    EXPECT_EQ(last.state(), job_state::completed);
}

// --- hooks that throw --------------------------------------------------------------------------------------------------------
TEST(mistakes, SYNC_193_a_condition_that_throws_is_named) {
    waiter_queue q("inbox");
    EXPECT_DEATH(static_cast<void>(q.wait_blocking([]() -> bool { throw std::runtime_error("no file"); })),
                 "waiter queue 'inbox': the condition passed to .* threw std::runtime_error: no file; .*must not throw");
}

// --- times -------------------------------------------------------------------------------------------------------------------
TEST(mistakes, SYNC_194_blocking_forms_take_every_kind_of_time) {
    event e("never");
    EXPECT_FALSE(e.wait_blocking(1ns));
    EXPECT_FALSE(e.wait_blocking(now()));
    EXPECT_FALSE(e.wait_blocking(std::chrono::steady_clock::now()));
    mutex m;
    auto held = m.lock_blocking(1s);
    EXPECT_TRUE(held);
    EXPECT_FALSE(m.lock_blocking(1ns));
    condition c;
    EXPECT_FALSE(c.wait_blocking(held, 1ns));
    EXPECT_FALSE(c.wait_blocking(held, [] { return false; }, 1ns));
    channel<int> orders(0);
    EXPECT_EQ(orders.receive_blocking(1ns).status(), wait_status::expired);
    pool<int> p(pool_options(1, "p"), [] { return 1; });
    auto a = p.acquire_blocking(1s);
    EXPECT_EQ(p.acquire_blocking("second", 1ns).status(), wait_status::expired);
}

}  // namespace
