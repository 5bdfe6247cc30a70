// Mistakes that no compiler can see. Each is named when it happens: by the failure sink where the program can go on, by an exception
// where it can catch one, by the last sentence of the program where it cannot go on. docs/guide/mistakes.md lists them.

#include <roost/base/misuse.hpp>
#include <roost/flow/select.hpp>
#include <roost/pool/pool.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/sync/watch.hpp>
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

#if ROOST_CHECKED

task<int> one() { co_return 1; }
task<> nothing() { co_return; }
task<int> wait_for_value(event& e) {
    co_await e.wait();
    co_return 1;
}

// --- waits that nothing awaits -------------------------------------------------------------------------------------------
TEST(mistakes, SYNC_190_a_wait_that_is_never_awaited_is_named) {
    const heard h;
    mutex m("accounts");
    semaphore s(1, "slots");
    shared_mutex sm("table");
    event e("ready");
    latch l(1, "started");
    channel<int> c(1, "orders");
    {
        auto a = m.lock();
        EXPECT_FALSE(m.is_locked()) << "that is the mistake";
    }
    EXPECT_TRUE(h.has("mutex 'accounts': roost::v0::misuse: lock() was called and never awaited")) << h.text();
    EXPECT_TRUE(h.has("co_await x.lock()"));
    EXPECT_FALSE(h.has("[in '")) << "outside of jobs there is nothing to name";
    { auto a = s.acquire(); }
    EXPECT_TRUE(h.has("semaphore 'slots'")) << h.text();
    { auto a = sm.lock_shared(); }
    EXPECT_TRUE(h.has("shared_mutex 'table'")) << h.text();
    { auto a = e.wait(); }
    EXPECT_TRUE(h.has("event 'ready'")) << h.text();
    { auto a = l.wait(); }
    EXPECT_TRUE(h.has("latch 'started'")) << h.text();
    { auto a = c.send(1); }
    EXPECT_TRUE(h.has("channel 'orders': roost::v0::misuse: send() was called")) << h.text();
    { auto a = c.receive(); }
    EXPECT_TRUE(h.has("receive() was called and never awaited")) << h.text();
    { auto a = with_stop(m.lock(), std::stop_token()); }
    { auto a = l.arrive_and_wait(); }
    EXPECT_TRUE(h.has("latch 'started': roost::v0::misuse: arrive_and_wait() was called and never awaited")) << h.text();
    l.count_down();
    barrier b(2, "step");
    { auto a = b.arrive_and_wait(); }
    EXPECT_TRUE(h.has("barrier 'step': roost::v0::misuse: arrive_and_wait() was called")) << h.text();
    once o("opened");
    { auto a = o.enter(); }
    EXPECT_TRUE(h.has("once 'opened': roost::v0::misuse: enter() was called")) << h.text();
    watch<int> w(1, "level");
    auto observer = w.observe();
    { auto a = observer.changed(); }
    EXPECT_TRUE(h.has("watch 'level': roost::v0::misuse: changed() was called")) << h.text();
    broadcast<int> news(1, "news");
    {
        auto subscriber = news.subscribe();
        auto a = subscriber.receive();
    }
    EXPECT_TRUE(h.has("broadcast 'news': roost::v0::misuse: receive() was called")) << h.text();
    condition c2("changed");
    {
        auto held = m.try_lock();
        auto a = c2.wait(held);
    }
    EXPECT_TRUE(h.has("condition 'changed': roost::v0::misuse: wait(held) was called")) << h.text();
    waiter_queue q("queue");
    {
        auto a = q.wait_unless([]() noexcept { return true; });
    }
    EXPECT_TRUE(h.has("waiter queue 'queue': roost::v0::misuse: wait_unless(condition) was called")) << h.text();
}
TEST(mistakes, SYNC_190_so_is_a_join_that_is_never_awaited) {
    const heard h;
    rig::stage s;
    const job j = s.start(one(), "server");
    { auto a = j.join(); }
    EXPECT_TRUE(h.has("job 'server': roost::v0::misuse: join() was called and never awaited")) << h.text();
}

task<> all_used(mutex& m, semaphore& s, event& e, channel<int>& c) {
    auto a = m.lock();
    auto held = co_await std::move(a);
    held.unlock();
    auto p = co_await s.acquire();
    co_await e.wait();
    auto sent = co_await c.send(1);
    EXPECT_TRUE(sent);
    auto got = co_await select(c.receive(), m.lock(), e.wait());
    EXPECT_EQ(got.index(), 0U);
    auto stopped = co_await with_stop(m.lock(), std::stop_token());
    EXPECT_TRUE(stopped);
}
task<> awaits_when_cancelled(mutex& m, event& e) {
    auto later = m.lock();
    co_await e.wait();
    auto held = co_await std::move(later);
}

TEST(mistakes, SYNC_190_nothing_is_said_of_waits_that_were_awaited_moved_or_cancelled) {
    const heard h;
    rig::stage s;
    mutex m("accounts");
    semaphore slots(1, "slots");
    event set("set", true);
    event never("never");
    channel<int> c(1, "orders");
    EXPECT_EQ(s.play(all_used(m, slots, set, c)).state(), job_state::completed);
    const job cancelled = s.play(awaits_when_cancelled(m, never));
    cancelled.cancel();
    s.run();
    EXPECT_EQ(cancelled.state(), job_state::cancelled);
    try {
        auto a = m.lock();
        throw std::runtime_error("on the way");
    } catch (const std::runtime_error&) {}
    EXPECT_TRUE(h.is_silent()) << h.text();
}

TEST(mistakes, POOL_103_an_acquire_that_is_never_awaited_is_named) {
    const heard h;
    pool<int> p(pool_options(1, "connections"), [] { return 1; });
    { auto a = p.acquire(); }
    EXPECT_TRUE(h.has("pool 'connections': roost::v0::misuse: acquire() was called and never awaited")) << h.text();
}

task<> sends(channel<int>& c, bool looks) {
    auto answer = co_await c.send(7);
    if (looks) {
        EXPECT_EQ(answer.take_back(), 7);
    }
}
TEST(mistakes, SYNC_191_a_value_that_was_not_sent_and_not_asked_about_is_named) {
    const heard h;
    rig::stage s;
    channel<int> c(1, "orders");
    c.close();
    s.play(sends(c, true));
    EXPECT_TRUE(h.is_silent()) << h.text();
    s.play(sends(c, false));
    EXPECT_TRUE(h.has("a value was not sent (closed) and is lost")) << h.text();
}

task<> forgets_to_await(mutex& m) {
    auto no_lock = m.lock();
    co_return;
}
task<> forgets_after_a_wait(event& e, mutex& m, unsigned& line) {
    line = __LINE__ + 1;
    co_await e.wait();
    auto no_lock = m.lock();
}
TEST(mistakes, OBS_103_a_mistake_in_a_job_names_the_await_before_it) {
    const heard h;
    rig::stage s;
    event go("go");
    mutex m("accounts");
    unsigned line = 0;
    s.play(forgets_after_a_wait(go, m, line), "transfer");
    go.set();
    s.run();
    EXPECT_TRUE(h.has("), after its await at ") && h.has("runtime_mistakes_test.cpp:" + std::to_string(line) + "]"))
        << h.text();
}
TEST(mistakes, BASE_61_a_mistake_in_a_job_names_the_job) {
    const heard h;
    rig::stage s;
    mutex m("accounts");
    s.play(forgets_to_await(m), "transfer");
    EXPECT_TRUE(h.has("write co_await x.lock() [in 'transfer' (")) << h.text();
    EXPECT_DEATH(
        {
            auto t = one();
            task<int> second = std::move(t);
            static_cast<void>(detail::task_access::release_frame(t));
        },
        "task: it was used before: it has been awaited, launched or moved from; call the coroutine again\n");
}

// --- tasks and deferreds that nothing awaits -------------------------------------------------------------------------------
TEST(mistakes, TASK_150_a_task_that_never_ran_is_named) {
    const heard h;
    { auto t = one(); }
    EXPECT_TRUE(h.has("it was destroyed without being awaited or launched, so its body never ran")) << h.text();
    EXPECT_TRUE(h.has("addr2line -Cfe")) << h.text();
}

task<> keeps(task<int> inner, event& e) {
    co_await e.wait();
    static_cast<void>(co_await std::move(inner));
}
TEST(mistakes, TASK_150_nothing_is_said_of_tasks_that_a_cancelled_or_refused_body_owned) {
    const heard h;
    {
        rig::stage s;
        event never("never");
        const job running = s.play(keeps(one(), never));
        running.cancel();
        s.run();
        const job waiting = s.start(keeps(one(), never));
        waiting.cancel();
        s.run();
        s.root.cancel();
        const job born_cancelled = s.start(keeps(one(), never));
        EXPECT_EQ(born_cancelled.state(), job_state::cancelled);
        try {
            auto t = one();
            throw std::runtime_error("on the way");
        } catch (const std::runtime_error&) {}
    }
    EXPECT_TRUE(h.is_silent()) << h.text();
    event never("never");
    { auto t = keeps(one(), never); }
    EXPECT_EQ(h.text().find("never ran"), h.text().rfind("never ran")) << "one task, one sentence:\n" << h.text();
}

enum class how { drops, keeps, cancels, awaits };
task<> uses_deferred(scope& s, event& e, how what) {
    auto d = s.async("price", wait_for_value(e));
    if (what == how::keeps) {
        d.keep();
    } else if (what == how::cancels) {
        d.cancel();
    } else if (what == how::awaits) {
        e.set();
        static_cast<void>(co_await std::move(d));
    }
    co_return;
}
task<> in_scope(event& e, how what) { co_await with_scope(uses_deferred, std::ref(e), what); }

TEST(mistakes, JOB_140_a_deferred_that_is_dropped_is_named) {
    for (const how what : {how::drops, how::keeps, how::cancels, how::awaits}) {
        const heard h;
        rig::stage s;
        event e("price known");
        s.play(in_scope(e, what));
        EXPECT_EQ(h.has("job 'price': roost::v0::misuse: its deferred was dropped without being awaited"),
                  what == how::drops)
            << h.text();
        e.set();
        s.run();
    }
}

TEST(mistakes, JOB_141_a_launch_that_a_closed_scope_refuses_is_named) {
    const heard h;
    rig::manual where;
    owned_scope root(where, scope_options("requests").report_failures());
    root.request_close();
    where.run();
    const job refused = root.launch("late", nothing());
    EXPECT_FALSE(refused);
    EXPECT_TRUE(h.has("job 'late': roost::v0::misuse: it was not started: scope 'requests' is closed")) << h.text();
}

// --- locks -----------------------------------------------------------------------------------------------------------------
task<> locks_twice(mutex& m) {
    auto first = co_await m.lock();
    auto second = co_await m.lock();
}
task<> locks(mutex& m, event& e) {
    auto first = co_await m.lock();
    co_await e.wait();
}
task<> waits_for(mutex& m, condition& c) {
    auto held = co_await m.lock();
    co_await c.wait(held);
    held.unlock();
    auto again = co_await m.lock();
}

TEST(mistakes, SYNC_192_a_mutex_that_a_job_locks_twice_is_named) {
    const heard h;
    rig::stage s;
    mutex m("accounts");
    const job twice = s.play(locks_twice(m), "transfer");
    EXPECT_TRUE(h.has("mutex 'accounts'")) << h.text();
    EXPECT_TRUE(h.has("job 'transfer' waits for it and is the job that locked it; it is not recursive")) << h.text();
    twice.cancel();
    s.run();
}

task<> locks_again(mutex& m, event& e) {
    auto first = co_await m.lock();
    co_await e.wait();
    first.unlock();  // the other one has it now, and has not run yet
    auto second = co_await m.lock();
}

TEST(mistakes, SYNC_192_nothing_is_said_of_a_job_that_waits_for_what_it_has_handed_over) {
    const heard h;
    rig::stage s;
    mutex m("accounts");
    event e;
    const job a = s.play(locks_again(m, e), "a");
    const job b = s.play(locks_again(m, e), "b");
    e.set();
    s.run();
    EXPECT_TRUE(a.is_finished() && b.is_finished());
    EXPECT_EQ(h.text(), "");
}

TEST(mistakes, SYNC_192_nothing_is_said_of_jobs_that_wait_for_each_other) {
    const heard h;
    rig::stage s;
    mutex m("accounts");
    event e;
    condition c("changed");
    s.play(locks(m, e), "a");
    s.play(locks(m, e), "b");
    e.set();
    s.run();
    s.play(locks(m, e), "c");
    s.play(waits_for(m, c), "d");
    s.play(waits_for(m, c), "e");
    {
        auto mine = m.try_lock();
        EXPECT_TRUE(mine);
        c.notify_all();
    }
    s.run();
    {
        auto blocking = m.lock_blocking();
        s.play(locks(m, e), "f");
    }
    s.run();
    EXPECT_TRUE(h.is_silent()) << h.text();
}

#endif

}  // namespace
