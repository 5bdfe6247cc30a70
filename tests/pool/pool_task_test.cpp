// Pools and tasks: functions of a pool that are tasks, with() around coroutines, cancelled jobs.

#include <roost/pool/pool.hpp>
#include <roost/runtime/run.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "support.hpp"

#include <gtest/gtest.h>

namespace {

using namespace roost;
using pool_testing::ledger;
using pool_testing::thing;

class pool_task : public testing::Test {
protected:
    [[nodiscard]] pool_options options(std::uint32_t capacity) {
        pool_options o(capacity, "tasks");
        o.where = rt;
        o.timers = &rt.timers();
        o.stripes = 1;
        return o;
    }
    template <class T>
    T run(task<T> t) {
        return block_on(rt, std::move(t));
    }
    runtime rt{runtime_options().workers(2)};
    ledger l;
};

task<thing> create_slowly(ledger* l) {
    co_await yield();
    if (l->fail_next > 0) {
        --l->fail_next;
        throw std::runtime_error("connection refused");
    }
    co_return thing(++l->made);
}
task<void> destroy_slowly(ledger* l, thing*) {
    co_await yield();
    ++l->destroyed;
}
task<bool> check_slowly(thing* t) {
    co_await yield();
    co_return t->healthy;
}

pool<thing> make_all_tasks(ledger* l, pool_options o) {
    return pool<thing>(
        std::move(o), [l] { return create_slowly(l); }, [l](thing& t) { return destroy_slowly(l, &t); },
        [](thing& t) { return check_slowly(&t); });
}

task<int> acquire_id(pool<thing>* p, bool spoil) {
    pooled<thing> t = (co_await p->acquire("acquire_id")).value();
    t->healthy = !spoil;
    co_return t->id;
}

TEST_F(pool_task, POOL_31_create_check_and_destroy_may_be_tasks) {
    pool<thing> p = make_all_tasks(&l, options(1));
    EXPECT_EQ(run(acquire_id(&p, false)), 1);
    EXPECT_EQ(run(acquire_id(&p, true)), 1) << "checked and fine";
    EXPECT_EQ(run(acquire_id(&p, false)), 2) << "checked and replaced";
    l.fail_next = 1;
    p.clear_idle();
    EXPECT_THROW(static_cast<void>(run(acquire_id(&p, false))), pool_error);
    EXPECT_EQ(run(acquire_id(&p, false)), 3);
    EXPECT_TRUE(p.close_blocking());
    EXPECT_EQ(l.alive(), 0);
}

// --- with ------------------------------------------------------------------------------------------------------------------------

task<int> with_value(pool<thing>* p) {
    const auto body = [](thing& t) -> task<int> {
        co_await yield();
        co_return t.id * 10;
    };
    co_return co_await p->with(body);
}
task<void> with_failure(pool<thing>* p) {
    const auto body = [](thing&) -> task<void> {
        co_await yield();
        throw std::runtime_error("halfway");
    };
    co_await p->with(body);
}
task<void> with_endless(pool<thing>* p, event* never, event* began) {
    const auto body = [never, began](thing&) -> task<void> {
        began->set();
        co_await never->wait();
    };
    co_await p->with(body);
}
task<bool> with_cancelled(pool<thing>* p, event* never, event* began) {
    const auto body = [p, never, began](scope& s) -> task<bool> {
        const job j = s.launch("endless", with_endless(p, never, began));
        co_await began->wait();
        j.cancel();
        co_await j.join();
        co_return j.state() == job_state::cancelled;
    };
    co_return co_await with_scope(body);
}

TEST_F(pool_task, POOL_8_with_a_coroutine_gives_back_on_success_and_destroys_on_failure_and_cancel) {
    pool<thing> p = pool_testing::make_pool(l, options(1));
    EXPECT_EQ(run(with_value(&p)), 10);
    EXPECT_EQ(p.stats().idle, 1U);
    EXPECT_THROW(run(with_failure(&p)), std::runtime_error);
    EXPECT_EQ(run(with_value(&p)), 20) << "the one that failed is gone";
    event never;
    event began;
    EXPECT_TRUE(run(with_cancelled(&p, &never, &began)));
    EXPECT_TRUE(began.is_set());
    EXPECT_EQ(run(with_value(&p)), 30) << "the one that was cut short is gone";
    EXPECT_EQ(l.made, 3);
}

task<int> try_with_value(pool<thing>* p) {
    const auto body = [](thing& t) -> task<int> {
        co_await yield();
        co_return t.id;
    };
    auto got = p->try_with(body);
    if (!got) {
        co_return -1;
    }
    co_return co_await std::move(*got);
}
task<bool> try_with_nothing_done(pool<thing>* p) {
    const auto body = [](thing&) -> task<void> { co_return; };
    auto got = p->try_with(body);
    const bool had = got.has_value();
    co_return had;  // dropped without having been awaited
}

TEST_F(pool_task, POOL_8_try_with_a_coroutine_runs_only_with_something_idle) {
    pool<thing> p = pool_testing::make_pool(l, options(1));
    EXPECT_EQ(run(try_with_value(&p)), -1);
    static_cast<void>(p.acquire_blocking());
    EXPECT_EQ(run(try_with_value(&p)), 1);
    EXPECT_EQ(p.stats().idle, 1U);
    EXPECT_TRUE(run(try_with_nothing_done(&p)));
    EXPECT_EQ(p.stats().out, 0U);
    pool_testing::expect_conserved(p, l);
}

task<void> wait_in_with(pool<thing>* p) {
    const auto body = [](thing&) -> task<void> { co_return; };
    co_await p->with(body);
}
task<bool> cancel_wait_in_with(pool<thing>* p) {
    auto ended = co_await move_on_after(std::chrono::milliseconds(5), wait_in_with(p));
    co_return !ended;
}

TEST_F(pool_task, RPB_7_waiting_inside_a_coroutine_with_is_cancellable_and_costs_nothing) {
    pool<thing> p = pool_testing::make_pool(l, options(1));
    {
        const acquired<thing> held = p.acquire_blocking();
        EXPECT_TRUE(run(cancel_wait_in_with(&p)));
        EXPECT_EQ(p.stats().waiting, 0U);
    }
    EXPECT_EQ(p.stats().idle, 1U);
    EXPECT_EQ(l.made, 1);
}

// --- cancelled while a creation runs -------------------------------------------------------------------------------------------

task<thing> create_on_command(ledger* l, event* begun, event* go) {
    begun->set();
    co_await go->wait();
    co_return thing(++l->made);
}
task<bool> acquire_until(pool<thing>* p, event* begun) {
    const auto body = [p, begun](scope& s) -> task<bool> {
        const job j = s.launch("acquires", acquire_id(p, false));
        co_await begun->wait();
        j.cancel();
        co_await j.join();
        co_return j.state() == job_state::cancelled;
    };
    co_return co_await with_scope(body);
}

TEST_F(pool_task, POOL_32_edge_25_a_job_cancelled_during_its_creation_leaves_the_resource_to_the_pool) {
    event begun;
    event go;
    {
        pool<thing> p(options(1), [&] { return create_on_command(&l, &begun, &go); });
        EXPECT_TRUE(run(acquire_until(&p, &begun)));
        EXPECT_EQ(p.stats().busy, 1U) << "the creation belongs to the pool";
        go.set();
        EXPECT_EQ(run(acquire_id(&p, false)), 1);
        EXPECT_EQ(l.made, 1);
        EXPECT_TRUE(p.close_blocking());
    }
    rt.shut_down();
}

}  // namespace
