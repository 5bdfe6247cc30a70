// The SQLite adapter against real files. Statements that would run for hours stand for slow ones; nothing here sleeps.

#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "fixture.hpp"

#include <fstream>

namespace {

using namespace roost;
using namespace roost::seam;
using sqlite::connection;
using sqlite_testing::endless;

class sqlite_connection : public sqlite_testing::with_folder {};

TEST_F(sqlite_connection, POOL_50_statements_bind_arguments_and_return_rows) {
    connection c = connection::open(":memory:");
    c.query_blocking("create table t(id integer primary key, name text, size real, data blob, other)");
    const sqlite::rows put =
        c.query_blocking("insert into t values (?, ?, ?, ?, ?)", 7, "seven", 0.5, sqlite::blob(2), nullptr);
    EXPECT_EQ(put.changes(), 1);
    EXPECT_EQ(put.last_insert_id(), 7);
    const sqlite::rows got = c.query_blocking("select * from t");
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got.columns().at(1), "name");
    EXPECT_EQ(got.get<std::int64_t>(0, 0), 7);
    EXPECT_EQ(got.get<std::string>(0, 1), "seven");
    EXPECT_EQ(got.get<double>(0, 2), 0.5);
    EXPECT_EQ(got.get<sqlite::blob>(0, 3).size(), 2U);
    EXPECT_EQ(got.at(0, 4), sqlite::value());
}

TEST_F(sqlite_connection, POOL_50_a_script_runs_to_its_end_and_bad_arguments_are_errors) {
    connection c = connection::open(":memory:");
    EXPECT_EQ(c.query_blocking("create table t(i); insert into t values (1), (2); -- two\n select sum(i) from t; ")
                  .get<std::int64_t>(0, 0),
              3);
    EXPECT_THROW(c.query_blocking("select ?"), sqlite::error);
    EXPECT_THROW(c.query_blocking("select 1", 1), sqlite::error);
    EXPECT_THROW(c.query_blocking("select ?; select ?", 1), sqlite::error);
    EXPECT_THROW(c.query_blocking("selekt 1"), sqlite::error);
    EXPECT_FALSE(c.is_broken());
}

TEST_F(sqlite_connection, POOL_50_a_file_that_is_no_database_cannot_be_opened) {
    std::ofstream(file("bad.db")) << std::string(4096, 'x');
    EXPECT_THROW(static_cast<void>(connection::open(file("bad.db"))), sqlite::error);
    EXPECT_THROW(static_cast<void>(connection::open(file("none/none.db"))), sqlite::error);
    sqlite::open_options how;
    how.create = false;
    EXPECT_THROW(static_cast<void>(connection::open(file("absent.db"), how)), sqlite::error);
}

task<std::int64_t> count_after_insert(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire("writer")).value();
    static_cast<void>(co_await c->query("create table if not exists t(name text)"));
    static_cast<void>(co_await c->query("insert into t values (?)", "row"));
    sqlite::rows r = co_await c->query("select count(*) from t");
    co_return r.get<std::int64_t>(0, 0);
}

TEST_F(sqlite_connection, POOL_51_a_pool_opens_on_the_blocking_lane_and_tasks_query) {
    pool<connection> db = sqlite::make_pool(file(), options(2));
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 1);
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 2);
    EXPECT_EQ(db.stats().created, 1U);
    EXPECT_TRUE(db.close_blocking());
    EXPECT_EQ(db.stats().destroyed, 1U);
}

task<void> only_acquire(pool<connection>* db) { static_cast<void>((co_await db->acquire()).value()); }

TEST_F(sqlite_connection, POOL_51_a_failing_open_is_the_acquires_error) {
    pool<connection> db = sqlite::make_pool(file("none/none.db"), options(1, "lost"));
    try {
        block_on(rt, only_acquire(&db));
        FAIL() << "there is no such folder";
    } catch (const pool_error& e) {
        EXPECT_EQ(e.pool(), "lost");
        EXPECT_EQ(e.operation(), pool_error::step::create);
        EXPECT_THROW(std::rethrow_exception(e.cause()), sqlite::error);
    }
    EXPECT_EQ(db.stats().free, 1U);
}

// --- cancelling --------------------------------------------------------------------------------------------------------------

task<void> run_endless(pool<connection>* db, bool* began, bool* went_on) {
    pooled<connection> c = (co_await db->acquire("endless")).value();
    *began = true;
    static_cast<void>(co_await c->query(endless));
    *went_on = true;
}
task<bool> cancelled_soon(pool<connection>* db, bool* began, bool* went_on) {
    bool cancelled = false;
    for (auto limit = std::chrono::milliseconds(30); !*began; limit *= 2) {  // opening may take longer
        auto ended = co_await move_on_after(limit, run_endless(db, began, went_on));
        cancelled = !ended;
    }
    co_return cancelled;
}

TEST_F(sqlite_connection, POOL_52_cancelling_a_task_interrupts_its_statement) {
    pool<connection> db = sqlite::make_pool(file(), options(1));
    bool began = false;
    bool went_on = false;
    EXPECT_TRUE(block_on(rt, cancelled_soon(&db, &began, &went_on)));
    EXPECT_TRUE(began);
    EXPECT_FALSE(went_on) << "a cancelled await does not come back";
    EXPECT_EQ(db.stats().out, 0U);
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 1) << "the connection is as good as before";
    EXPECT_EQ(db.stats().created, 1U);
}

task<bool> interrupted_by_other(connection* c) {
    try {
        static_cast<void>(co_await c->query(endless));
    } catch (const sqlite::error& e) {
        co_return e.is_interrupt();
    }
    co_return false;
}

TEST_F(sqlite_connection, POOL_52_an_interrupt_without_a_cancel_is_an_error) {
    connection c = connection::open(":memory:");
    atomic<bool> over{false};
    thread nagger([&] {
        while (!over.load(mo::relaxed)) {
            ::usleep(1000);
            c.interrupt();
        }
    });
    EXPECT_TRUE(block_on(rt, interrupted_by_other(&c)));
    over.store(true, mo::relaxed);
    nagger.join();
}

TEST_F(sqlite_connection, POOL_52_an_interrupt_before_the_statement_has_begun_is_not_lost) {
    connection c = connection::open(":memory:");
    c.interrupt();
    try {
        c.query_blocking("select 1");
        FAIL();
    } catch (const sqlite::error& e) {
        EXPECT_TRUE(e.is_interrupt());
    }
    EXPECT_TRUE(c.make_ready());
    EXPECT_EQ(c.query_blocking("select 1").size(), 1U);
}

// The cancel lands after the last step of a statement that has won, and before the task's callback is taken away.
TEST_F(sqlite_connection, POOL_88_a_cancel_that_came_too_late_does_not_reach_the_next_user) {
    pool<connection> db = sqlite::make_pool(file(), options(1));
    {
        pooled<connection> c = db.acquire_blocking().value();
        EXPECT_EQ(c->query_blocking("select 1").size(), 1U);
        c->interrupt();
    }
    pooled<connection> c = db.acquire_blocking().value();
    EXPECT_EQ(c->query_blocking("select 1").size(), 1U);
    EXPECT_EQ(db.stats().created, 1U) << "and it is the same connection";
}

TEST_F(sqlite_connection, POOL_52_waiting_for_a_lock_is_interrupted_too) {
    connection holder = connection::open(file());
    holder.query_blocking("create table t(i); begin immediate");
    sqlite::open_options patient;
    patient.busy_timeout = std::chrono::hours(1);
    connection c = connection::open(file(), patient);
    thread later([&] {
        ::usleep(20000);
        c.interrupt();
    });
    try {
        c.query_blocking("insert into t values (1)");
        ADD_FAILURE() << "the lock is held";
    } catch (const sqlite::error& e) {
        EXPECT_TRUE(e.is_interrupt());
    }
    later.join();
}

TEST_F(sqlite_connection, POOL_52_a_lock_that_stays_held_is_an_error_that_says_busy) {
    connection holder = connection::open(file());
    holder.query_blocking("create table t(i); begin immediate");
    sqlite::open_options hasty;
    hasty.busy_timeout = std::chrono::milliseconds(5);
    connection c = connection::open(file(), hasty);
    try {
        c.query_blocking("insert into t values (1)");
        FAIL();
    } catch (const sqlite::error& e) {
        EXPECT_TRUE(e.is_busy());
        EXPECT_FALSE(e.is_interrupt());
    }
}

// --- transactions ------------------------------------------------------------------------------------------------------------

task<void> insert_in_transaction(pool<connection>* db, int value, bool fail) {
    pooled<connection> c = (co_await db->acquire("transaction")).value();
    const auto body = [value, fail](connection& on) -> task<void> {
        static_cast<void>(co_await on.query("insert into t values (?)", value));
        if (fail) {
            throw std::runtime_error("changed my mind");
        }
    };
    co_await sqlite::with_transaction(c, body);
}

TEST_F(sqlite_connection, POOL_53_a_transaction_commits_or_costs_the_connection) {
    pool<connection> db = sqlite::make_pool(file(), options(1));
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 1);
    block_on(rt, insert_in_transaction(&db, 1, false));
    EXPECT_EQ(db.stats().destroyed, 0U);
    EXPECT_THROW(block_on(rt, insert_in_transaction(&db, 2, true)), std::runtime_error);
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 3) << "one before, one committed, one now";
    EXPECT_EQ(db.stats().destroyed, 1U);
    EXPECT_EQ(db.stats().created, 2U);
}

task<void> leave_transaction_open(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire()).value();
    static_cast<void>(co_await c->query("begin"));
    static_cast<void>(co_await c->query("insert into t values ('left')"));
}

TEST_F(sqlite_connection, POOL_53_a_transaction_left_open_is_rolled_back_before_the_next_user) {
    pool<connection> db = sqlite::make_pool(file(), options(1));
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 1);
    block_on(rt, leave_transaction_open(&db));
    EXPECT_EQ(block_on(rt, count_after_insert(&db)), 2);
    EXPECT_EQ(db.stats().created, 1U);
}

// --- load --------------------------------------------------------------------------------------------------------------------

task<void> add_some(pool<connection>* db, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        pooled<connection> c = (co_await db->acquire("adder")).value();
        const auto body = [](connection& on) -> task<void> {
            sqlite::rows now = co_await on.query("select n from total");
            const std::int64_t next = now.get<std::int64_t>(0, 0) + 1;
            static_cast<void>(co_await on.query("update total set n = ?", next));
        };
        co_await sqlite::with_transaction(c, body);
    }
}
task<void> add_from_many(pool<connection>* db, int tasks, int rounds) {
    const auto body = [db, tasks, rounds](scope& s) -> task<void> {
        for (int i = 0; i < tasks; ++i) {
            s.launch("adder", add_some(db, rounds));
        }
        co_return;
    };
    co_await with_scope(body);
}

TEST_F(sqlite_connection, POOL_53_many_tasks_share_few_connections_and_no_update_is_lost) {
    connection first = connection::open(file());
    first.query_blocking("create table total(n integer); insert into total values (0)");
    pool<connection> db = sqlite::make_pool(file(), options(3));
    block_on(rt, add_from_many(&db, 8, 25));
    EXPECT_EQ(first.query_blocking("select n from total").get<std::int64_t>(0, 0), 200);
    EXPECT_LE(db.stats().created, 3U);
    EXPECT_TRUE(db.close_blocking());
}

}  // namespace
