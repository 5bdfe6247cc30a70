// Statements of tasks that meet another connection's lock. The lane has one thread, so one that kept it would stop the owner of the lock.

#include <roost/observe/dump.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::seam;
using sqlite::connection;

class sqlite_waiting : public sqlite_testing::with_folder {
protected:
    sqlite_waiting() : with_folder(1, 1) {
        connection::open(file()).query_blocking("create table t(i integer primary key)");
    }
    // The default's seconds may pass on a busy machine.
    static sqlite::open_options patient() {
        sqlite::open_options how;
        how.busy_timeout = std::chrono::hours(1);
        return how;
    }
};

// Until the job waits for a file's lock or in one of its statements.
task<> wait_until_at(job j, std::string target) {
    while (dump(j).find("waits on " + target) == std::string::npos) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
}

template <class Body, class... Args>
task<> in_scope(Body body, Args... args) {
    co_await with_scope(body, args...);
}

task<> hold_lock(pool<connection>& db, event& held, event& leave) {
    pooled<connection> c = (co_await db.acquire("holder")).value();
    static_cast<void>(co_await c->query("begin immediate"));
    held.set();
    co_await leave.wait();
    static_cast<void>(co_await c->query("commit"));
}
task<> write(pool<connection>& db, int i, std::vector<int>& order) {
    pooled<connection> c = (co_await db.acquire("writer")).value();
    static_cast<void>(co_await c->query("insert into t values (?)", i));
    order.push_back(i);
}

task<> many_writers(scope& s, pool<connection>& db, std::string file, int writers, std::vector<int>& order) {
    event held;
    event leave;
    const job holder = s.launch("holder", hold_lock(db, held, leave));
    co_await held.wait();
    for (int i = 0; i < writers; ++i) {
        const job j = s.launch("writer", write(db, i, order));
        const std::string target = i == 0 ? "auto_reset_event" : "mutex '" + file + "'";
        co_await wait_until_at(j, target);
    }
    leave.set();
    co_await holder.join();
}

TEST_F(sqlite_waiting, POOL_202_writers_wait_in_line_and_leave_the_lane_to_the_owner_of_the_lock) {
    pool<connection> db = sqlite::make_pool(file(), options(41), patient());
    std::vector<int> order;
    block_on(rt, in_scope(many_writers, std::ref(db), file(), 40, std::ref(order)));
    ASSERT_EQ(order.size(), 40U);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << "first in, first out";
}

task<> try_write(pool<connection>& db, std::vector<int>& order, std::string& ended) {
    try {
        co_await write(db, 1, order);
        ended = "written";
    } catch (const sqlite::error& e) {
        ended = e.what();
    }
}
task<> one_writer(scope& s, pool<connection>& db, bool cancel, std::string& ended) {
    event held;
    event leave;
    const job holder = s.launch("holder", hold_lock(db, held, leave));
    co_await held.wait();
    std::vector<int> order;
    job j = s.launch("writer", try_write(db, order, ended));
    if (cancel) {
        co_await wait_until_at(j, "auto_reset_event");
        j.cancel();
    }
    co_await j.join();
    leave.set();
    co_await holder.join();
}

TEST_F(sqlite_waiting, POOL_202_a_lock_that_stays_held_is_an_error_that_says_busy) {
    sqlite::open_options hasty;
    hasty.busy_timeout = std::chrono::milliseconds(20);
    pool<connection> db = sqlite::make_pool(file(), options(2), hasty);
    std::string ended;
    block_on(rt, in_scope(one_writer, std::ref(db), false, std::ref(ended)));
    EXPECT_NE(ended.find("database is locked: another connection has held the lock of '" + file() + "' for more than 20 ms"),
              std::string::npos)
        << ended;
}

TEST_F(sqlite_waiting, POOL_202_cancelling_a_task_in_the_line_ends_it_and_keeps_the_connection) {
    pool<connection> db = sqlite::make_pool(file(), options(2), patient());
    std::string ended;
    block_on(rt, in_scope(one_writer, std::ref(db), true, std::ref(ended)));
    EXPECT_EQ(ended, "");
    EXPECT_EQ(db.stats().destroyed, 0U);
    std::vector<int> order;
    block_on(rt, write(db, 7, order));
    EXPECT_EQ(order.size(), 1U);
}

// Without a write-ahead log, COMMIT waits for readers. Its transaction must not stand behind those that wait for its lock.
task<> commit_behind_reader(scope& s, pool<connection>& db, std::vector<int>& order) {
    event held;
    event leave;
    pooled<connection> reader = (co_await db.acquire("reader")).value();
    static_cast<void>(co_await reader->query("begin"));
    static_cast<void>(co_await reader->query("select count(*) from t"));
    const job holder = s.launch("holder", hold_lock(db, held, leave));
    co_await held.wait();
    const job waits = s.launch("writer", write(db, 2, order));
    co_await wait_until_at(waits, "auto_reset_event");
    leave.set();
    co_await wait_until_at(holder, "sleep");
    static_cast<void>(co_await reader->query("commit"));
}

TEST_F(sqlite_waiting, POOL_202_a_transaction_that_waits_is_not_behind_those_that_wait_for_it) {
    sqlite::open_options plain = patient();
    plain.write_ahead_log = false;
    plain.on_open = "pragma journal_mode = delete";
    pool<connection> db = sqlite::make_pool(file("plain.db"), options(3), plain);
    db.acquire_blocking().value()->query_blocking("create table t(i integer primary key)");
    std::vector<int> order;
    block_on(rt, in_scope(commit_behind_reader, std::ref(db), std::ref(order)));
    EXPECT_EQ(order.size(), 1U);
}

// Every opener may have to write: none keeps the lane from the owner of the lock.
task<> open_behind_lock(scope& s, pool<connection>& owner, pool<connection>& db, std::vector<int>& order) {
    event held;
    event leave;
    const job holder = s.launch("holder", hold_lock(owner, held, leave));
    co_await held.wait();
    const job opens = s.launch("opener", write(db, 1, order));
    co_await wait_until_at(opens, "pool");
    leave.set();
    co_await holder.join();
}

TEST_F(sqlite_waiting, POOL_202_opening_a_connection_waits_for_a_lock_without_a_thread) {
    sqlite::open_options writes = patient();
    writes.on_open = "create table if not exists opened(i); insert into opened values (1)";
    pool<connection> owner = sqlite::make_pool(file(), options(1), patient());
    pool<connection> db = sqlite::make_pool(file(), options(1), writes);
    std::vector<int> order;
    block_on(rt, in_scope(open_behind_lock, std::ref(owner), std::ref(db), std::ref(order)));
    EXPECT_EQ(order.size(), 1U);
}

task<> open_and_write(scope& s, pool<connection>& db, std::vector<int>& order) {
    for (int i = 0; i < 16; ++i) {
        s.launch("writer", write(db, i, order));
    }
    co_return;
}

TEST_F(sqlite_waiting, POOL_202_many_connections_open_a_new_file_at_once) {
    sqlite::open_options makes = patient();
    makes.on_open = "create table if not exists t(i)";
    pool<connection> db = sqlite::make_pool(file("fresh.db"), options(16), makes);
    std::vector<int> order;
    block_on(rt, in_scope(open_and_write, std::ref(db), std::ref(order)));
    EXPECT_EQ(order.size(), 16U);
}

task<> run_endless(pool<connection>& db) {
    pooled<connection> c = (co_await db.acquire("endless")).value();
    static_cast<void>(co_await c->query(sqlite_testing::endless));
}
task<> look_at_statement(scope& s, pool<connection>& db, std::string file) {
    job j = s.launch("endless", run_endless(db));
    co_await wait_until_at(j, "sqlite statement '" + file + "'");
    j.cancel();
    co_await j.join();
}

TEST_F(sqlite_waiting, POOL_203_a_job_in_a_statement_says_so) {
    pool<connection> db = sqlite::make_pool(file(), options(1));
    block_on(rt, in_scope(look_at_statement, std::ref(db), file()));
}

}  // namespace
