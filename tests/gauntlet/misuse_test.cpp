// Scenario 29: forty ways to use Roost wrongly. Each ends with a sentence that names the rule: the program, where going on would
// corrupt something, or an error that can be caught.

#include <roost/exec/executor.hpp>
#include <roost/flow/race.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/sync/watch.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/testing/virtual_time.hpp>
#include <roost/tree/callback.hpp>

#include "../runtime/fixture.hpp"
#include "../task/rig.hpp"
#include "../tree/tree_support.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace roost;
using namespace std::chrono_literals;

// A coroutine that waits for x and is never resumed.
template <class X>
runtime_tests::detached linger(X x) {
    static_cast<void>(co_await std::move(x));
}
task<int> one() { co_return 1; }
task<> twice() {
    task<int> t = one();
    static_cast<void>(co_await std::move(t));
    static_cast<void>(co_await std::move(t));
}
task<> for_ever(event& e) { co_await e.wait(); }
task<> nap() { co_await sleep_for(1h); }

// --- what ends the program ---------------------------------------------------------------------------------------------------
struct misuse {
    const char* rule;
    void (*act)();
    const char* says;
};

const misuse fatal[] = {
    {"an event is destroyed while somebody waits",
     [] {
         event e("ready");
         linger(e.wait());
     },
     "event 'ready'.*destroyed while 1 waiter"},
    {"an auto-reset event is destroyed while somebody waits",
     [] {
         auto_reset_event e("tick");
         linger(e.wait());
     },
     "auto_reset_event 'tick'.*destroyed while 1 waiter"},
    {"a waiter queue is destroyed while somebody waits",
     [] {
         waiter_queue q("inbox");
         linger(q.wait_unless([] { return false; }));
     },
     "waiter queue 'inbox'.*destroyed while 1 waiter"},
    {"a latch is destroyed while somebody waits",
     [] {
         latch l(1, "started");
         linger(l.wait());
     },
     "latch 'started'.*destroyed while 1 waiter"},
    {"a mutex is destroyed while somebody waits",
     [] {
         mutex m("accounts");
         m.try_lock().release();
         linger(m.lock());
     },
     "mutex 'accounts'.*destroyed while 1 waiter"},
    {"a semaphore is destroyed while somebody waits",
     [] {
         semaphore s(0, "slots");
         linger(s.acquire());
     },
     "semaphore 'slots'.*destroyed while 1 waiter"},
    {"a channel is destroyed while somebody waits",
     [] {
         channel<int> c(1, "orders");
         linger(c.receive());
     },
     "channel 'orders'.*destroyed while 1 waiter"},
    {"a broadcast is destroyed while it has subscribers",
     [] {
         broadcast<int> b(1, "ticks");
         auto s = b.subscribe();
         b.~broadcast();
     },
     "broadcast 'ticks'.*destroyed while it had subscribers"},
    {"a mutex is unlocked that nobody locked", [] { mutex("accounts").unlock(); },
     "mutex 'accounts'.*more often than it was taken"},
    {"a shared mutex is unlocked that no writer locked", [] { shared_mutex("table").unlock(); },
     "shared_mutex 'table'.*no writer had locked it"},
    {"a reader unlocks what nobody locked", [] { shared_mutex("table").unlock_shared(); },
     "shared_mutex 'table'.*more often than it was taken"},
    {"a reader unlocks while a writer holds it",
     [] {
         shared_mutex m("table");
         m.try_lock().release();
         m.unlock_shared();
     },
     "shared_mutex 'table'.*by a reader while a writer"},
    {"a permit is released that nobody took", [] { semaphore(2, "slots").release(); },
     "semaphore 'slots'.*more often than it was taken"},
    {"more permits than can be counted, in acquire",
     [] { linger(semaphore(1, "slots").acquire(semaphore::max_permits + 1)); },
     "semaphore 'slots'.*requested than max_permits"},
    {"more permits than can be counted, in try_acquire",
     [] { static_cast<void>(semaphore(1, "slots").try_acquire(~std::uint32_t(0))); },
     "semaphore 'slots'.*requested than max_permits"},
    {"more permits than can be counted, in add_permits", [] { semaphore(1, "slots").add_permits(semaphore::max_permits); },
     "semaphore 'slots'.*added than max_permits"},
    {"more permits than can be counted, at its making", [] { semaphore(semaphore::max_permits + 1, "slots"); },
     "semaphore 'slots'.*made with more permits"},
    {"a permit of one semaphore is given back to another",
     [] {
         semaphore a(1, "mine");
         semaphore b(1, "theirs");
         b.release(a.try_acquire().release());
     },
     "semaphore 'theirs'.*more often than it was taken"},
    {"a lock of one mutex is given back to another",
     [] {
         mutex a("mine");
         mutex b("theirs");
         a.try_lock().release();
         b.unlock();
     },
     "mutex 'theirs'.*more often than it was taken"},
    {"a latch is counted down below zero", [] { latch(1, "started").count_down(2); },
     "latch 'started'.*counted down more often"},
    {"a barrier for nobody", [] { barrier(0, "step"); }, "barrier 'step'.*at least one participant"},
    {"arriving when everybody has left",
     [] {
         barrier b(1, "step");
         b.arrive_and_drop();
         static_cast<void>(b.arrive());
     },
     "barrier 'step'.*every participant had dropped out"},
    {"a broadcast without room", [] { broadcast<int>(0, "ticks"); }, "broadcast 'ticks'.*its capacity is 0"},
    {"waiting for a condition without its mutex",
     [] {
         condition c("not empty");
         mutex::guard nothing;
         c.wait_blocking(nothing);
     },
     "condition 'not empty'.*holds no mutex"},
    {"taking back a value that was sent",
     [] {
         channel<int> c(1);
         static_cast<void>(c.try_send(1).take_back());
     },
     "no value to take back"},
    {"a task is awaited twice",
     [] {
         rig::stage s;
         s.play(twice());
     },
     "task: it was used before"},
    {"a moved-from task is launched",
     [] {
         rig::stage s;
         task<int> t = one();
         const task<int> other = std::move(t);
         s.start(std::move(t));
     },
     "task: it was used before"},
    {"an owned scope that reports failures goes before it was joined",
     [] {
         rig::manual where;
         const owned_scope root(where, scope_options("forgotten").report_failures());
     },
     "owned scope 'forgotten'.*destroyed before a close.. had completed"},
    {"an owned scope goes before it was closed",
     [] {
         rig::manual where;
         event never;
         owned_scope o(where, "feed");
         o.launch("stuck refresh", for_ever(never));
         where.run();
     },
     "stuck refresh(.|\n)*owned scope 'feed'.*before a close"},
    {"a promise is set twice",
     [] {
         rig::stage s;
         auto made = make_promise<int>(s.root, "answer", external_cancel::abandon);
         made.second.set_value(1);
         made.second.set_value(2);
     },
     "'answer'.*set once"},
    {"a promise of nothing is set", [] { promise<int>().set_value(1); }, "refers to nothing"},
    {"sleeping where there are no timers",
     [] {
         roost::testing::manual_executor bare("bare");
         owned_scope root(bare, scope_options("root").report_failures());
         root.launch("sleeper", nap());
         bare.run_all();
     },
     "bare.*has no timers"},
    {"a task is driven nowhere", [] { static_cast<void>(awaitable_on(one(), executor_ref())); }, "has nowhere to run"},
    {"a callback without an executor",
     [] {
         const auto root = tree_support::make_root();
         callback(token(*root), level::stop, executor_ref(), [] {});
     },
     "needs an executor"},
    {"a pool for nothing", [] { pool<int>(pool_options(0, "none"), [] { return 1; }); }, "none.*capacity is 0"},
    {"a pool with timers and no executor",
     [] {
         roost::testing::virtual_time clock;
         pool_options o(1, "timed");
         o.timers = &clock;
         pool<int>(o, [] { return 1; });
     },
     "timed.*timers needs an executor"},
    {"closing a pool by a deadline that nobody watches",
     [] {
         pool<int> p(pool_options(1, "untimed"), [] { return 1; });
         static_cast<void>(p.close(now()));
     },
     "untimed.*needs options.where and options.timers"},
    {"work is dropped by a manual executor",
     [] {
         runtime_tests::call c([] {});
         roost::testing::manual_executor e("forgetful");
         e.post(c);
     },
     "forgetful"},
    {"a loop is polled by what it runs",
     [] {
         loop l("busy");
         runtime_tests::call c([&] { l.poll(); });
         l.post(c);
         l.poll();
     },
     "loop 'busy': run.. was called while it runs already"},
    {"a loop is run by what it runs",
     [] {
         loop l("busy");
         runtime_tests::call c([&] { l.run(); });
         l.post(c);
         l.poll();
     },
     "loop 'busy': run.. was called while it runs already"},
    {"a scope is joined by the thread that runs its work",
     [] {
         rig::manual where;
         owned_scope root(where, scope_options("mine").report_failures());
         event never;
         root.launch("stuck", for_ever(never));
         runtime_tests::call c([&] { root.close_blocking(); });
         where.post(c);
         where.run();
     },
     "mine.*close_blocking|close_blocking.*mine"},
    {"a loop goes with work in it",
     [] {
         runtime_tests::call c([] {});
         loop l("short");
         l.post(c);
     },
     "loop 'short': it was destroyed with queued work"},
};

// --- what is told with an error ------------------------------------------------------------------------------------------------
task<> joins_itself(job& me) { co_await me.join(); }
task<> awaits_nothing() {
    deferred<int> d;
    static_cast<void>(co_await std::move(d));
}
task<> races_nobody() { static_cast<void>(co_await race(std::vector<task<int>>())); }

task<> joins(owned_scope& of) { co_await of.join(); }
task<> uses(owned_scope& other, job& refused) {
    refused = other.launch("stranger", one());
    auto d = other.async("stranger", one());
    static_cast<void>(co_await std::move(d));
}

errc kind_of(const std::exception_ptr& failure, std::string& text) {
    try {
        std::rethrow_exception(failure);
    } catch (const error& e) {
        text = e.what();
        return e.kind();
    }
}

TEST(gauntlet_misuse, GAUNTLET_29_forty_misuses_each_named) {
    const gauntlet::quiet q("scenario 29");
    int named = 0;
    for (const misuse& m : fatal) {
        EXPECT_DEATH(m.act(), m.says) << m.rule;
        ++named;
    }
    std::string text;
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        rig::stage s;
        job me;
        me = s.start(joins_itself(me));
        s.run();
        EXPECT_EQ(kind_of(me.error(), text), errc::would_deadlock) << "a job joins itself";
        EXPECT_FALSE(text.empty());
        const job empty = s.play(awaits_nothing());
        EXPECT_EQ(kind_of(empty.error(), text), errc::refused) << "the deferred of a closed scope is awaited";
        const job nobody = s.play(races_nobody());
        EXPECT_EQ(kind_of(nobody.error(), text), errc::empty_set) << "a race of nobody";
        named += 3;
    }
    {
        rig::stage a;
        rig::stage b;
        event never;
        const job keeps_open = a.start(for_ever(never));
        const job inside = a.play(joins(a.root));
        EXPECT_EQ(kind_of(inside.error(), text), errc::would_deadlock) << "a scope is joined from inside";
        job stranger = keeps_open;
        a.root.request_close();
        const job user = b.play(uses(a.root, stranger));
        EXPECT_FALSE(stranger) << "a job of one scope starts a child in another, which is closing";
        EXPECT_EQ(stranger.why().kind(), reason_kind::closed);
        EXPECT_EQ(kind_of(user.error(), text), errc::refused) << "and awaits it";
        keeps_open.cancel();
        a.run();
        named += 3;
    }
    {
        // No misuse, but said: nothing is there at once, however many are in line.
        semaphore s(0, "none");
        EXPECT_TRUE(s.try_acquire(0));
        rig::stage in_line;
        const job waits = in_line.play([](semaphore& of) -> task<> { auto p = co_await of.acquire(); }(s));
        EXPECT_EQ(s.waiters_now(), 1U);
        const job nothing = in_line.play([](semaphore& of) -> task<> { auto p = co_await of.acquire(0); }(s));
        EXPECT_EQ(nothing.state(), job_state::completed) << "acquire(0) never waits";
        EXPECT_TRUE(s.acquire_blocking(0));
        s.release(0);
        EXPECT_EQ(s.available(), 0U);
        waits.cancel();
        ++named;
    }
    set_failure_sink(before);
    EXPECT_GE(named, 40);
    q.say("%d misuses, each named", named);
}

}  // namespace
