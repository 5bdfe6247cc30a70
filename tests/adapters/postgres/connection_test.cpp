// The PostgreSQL adapter against a private server.

#include <roost/observe/dump.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace postgres_testing;
using postgres::connection;

class postgres_connection : public with_server {};

task<void> statements(std::string conninfo) {
    connection c = co_await connection::connect(std::move(conninfo), {});
    EXPECT_GT(c.server_process(), 0);
    postgres::rows r = co_await c.query("select $1::int + 1 as n, $2::text, $3::text is null", 41, "text", nullptr);
    EXPECT_EQ(r.size(), 1U);
    EXPECT_EQ(r.column(0), "n");
    EXPECT_EQ(r.get<int>(0, 0), 42);
    EXPECT_EQ(r.text(0, 1), "text");
    EXPECT_TRUE(r.get<bool>(0, 2));
    r = co_await c.query("create temp table t(i int); insert into t select generate_series(1, 5)");
    EXPECT_EQ(r.changes(), 5);
    r = co_await c.query("select i from t where i > $1 order by i", 3);
    EXPECT_EQ(r.size(), 2U);
    EXPECT_EQ(r.get<std::int64_t>(1, 0), 5);
    std::string large(3'000'000, 'x');  // more than the socket takes at once, both ways
    r = co_await c.query("select length($1), $1", large);
    EXPECT_EQ(r.get<int>(0, 0), 3'000'000);
    EXPECT_EQ(r.text(0, 1).size(), large.size());
}

TEST_F(postgres_connection, POOL_54_statements_take_arguments_and_return_rows) { run(statements(pg->conninfo())); }

task<std::string> state_of(connection* c, std::string sql) {
    try {
        static_cast<void>(co_await c->query(std::move(sql)));
    } catch (const postgres::error& e) {
        co_return e.state();
    }
    co_return "";
}
task<void> failures(std::string conninfo) {
    connection c = co_await connection::connect(std::move(conninfo), {});
    std::string state = co_await state_of(&c, "selekt 1");
    EXPECT_EQ(state, "42601");
    state = co_await state_of(&c, "select 1/0");
    EXPECT_EQ(state, "22012");
    state = co_await state_of(&c, "");
    EXPECT_EQ(state, "");
    EXPECT_FALSE(c.is_broken());
    state = co_await state_of(&c, "copy (select 1) to stdout");
    EXPECT_EQ(state, "0A000");
    EXPECT_TRUE(c.is_broken()) << "it is in the middle of a COPY";
    state = co_await state_of(&c, "select 1");
    EXPECT_EQ(state, "08003");
}

TEST_F(postgres_connection, POOL_54_failures_are_errors_with_the_servers_state) { run(failures(pg->conninfo())); }

task<std::string> try_connect(std::string conninfo, postgres::connect_options how) {
    try {
        connection c = co_await connection::connect(std::move(conninfo), how);
    } catch (const postgres::error& e) {
        co_return e.what();
    }
    co_return "";
}

TEST_F(postgres_connection, POOL_54_a_failing_connect_says_why) {
    EXPECT_NE(run(try_connect("host=127.0.0.1 port=1 user=roost", {})).find("refused"), std::string::npos);
    EXPECT_NE(run(try_connect(pg->conninfo() + " user=nobody_here", {})).find("does not exist"), std::string::npos);
    EXPECT_NE(run(try_connect("nonsense", {})), "");
}

TEST_F(postgres_connection, POOL_54_a_server_that_does_not_answer_a_connect_is_given_up) {
    const int listens = ::socket(AF_INET, SOCK_STREAM, 0);  // accepts in the kernel, never says a word
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listens, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listens, 4), 0);
    ASSERT_EQ(::getsockname(listens, reinterpret_cast<sockaddr*>(&address), &size), 0);
    postgres::connect_options how;
    how.connect_timeout = std::chrono::milliseconds(20);
    EXPECT_NE(
        run(try_connect("host=127.0.0.1 user=x port=" + std::to_string(ntohs(address.sin_port)), how)).find("too long"),
        std::string::npos);
    ::close(listens);
}

// --- in a pool -----------------------------------------------------------------------------------------------------------------

TEST_F(postgres_connection, POOL_56_a_pool_connects_once_and_closes) {
    pool<connection> db = postgres::make_pool(pg->conninfo("closes"), options(3));
    EXPECT_EQ(run(query_once(&db, "select 7")).get<int>(0, 0), 7);
    EXPECT_EQ(run(query_once(&db, "select 8")).get<int>(0, 0), 8);
    EXPECT_EQ(db.stats().created, 1U);
    EXPECT_EQ(run(count_connections(pg->conninfo("asks"), "closes")), 1);
    EXPECT_TRUE(db.close_blocking());
    for (int i = 0; i < 5000 && run(count_connections(pg->conninfo("asks"), "closes")) != 0; ++i) {
        ::usleep(10000);
    }
    EXPECT_EQ(run(count_connections(pg->conninfo("asks"), "closes")), 0);
}

// begin guide
task<int> first_ready(pool<postgres::connection>& db) {
    auto c = (co_await db.acquire("report")).value();
    const postgres::rows ready = co_await c->query("select id from job where state = $1 order by id", "ready");
    co_return ready.get<int>(0, 0);
}

int find_work(runtime& rt, const std::string& conninfo) {  // such as "host=db.example dbname=jobs"
    pool_options o(4, "jobs");
    o.where = rt;
    o.timers = &rt.timers();
    auto db = postgres::make_pool(conninfo, o);
    return block_on(rt, first_ready(db));
}
// end guide

TEST_F(postgres_connection, POOL_56_as_in_the_guide) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    static_cast<void>(run(query_once(&db, "drop table if exists job; create table job(id int, state text)")));
    static_cast<void>(run(query_once(&db, "insert into job values (4, 'done'), (7, 'ready'), (9, 'ready')")));
    EXPECT_EQ(find_work(rt, pg->conninfo()), 7);
}

task<void> leave_transaction_open(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire()).value();
    static_cast<void>(co_await c->query("begin"));
}

TEST_F(postgres_connection, POOL_56_a_transaction_left_open_does_not_reach_the_next_user) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    run(leave_transaction_open(&db));
    EXPECT_EQ(run(query_once(&db, "select count(*) from pg_locks where false")).get<int>(0, 0), 0);
    EXPECT_EQ(run(query_once(&db, "select now() = statement_timestamp()")).text(0, 0), "t") << "a transaction of its own";
}

task<void> insert_in_transaction(pool<connection>* db, int value, bool fail) {
    pooled<connection> c = (co_await db->acquire("transaction")).value();
    const auto body = [value, fail](connection& on) -> task<void> {
        static_cast<void>(co_await on.query("insert into kept values ($1)", value));
        if (fail) {
            throw std::runtime_error("changed my mind");
        }
    };
    co_await postgres::with_transaction(c, body);
}

TEST_F(postgres_connection, POOL_56_a_transaction_commits_or_costs_the_connection) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    static_cast<void>(run(query_once(&db, "drop table if exists kept; create table kept(i int)")));
    run(insert_in_transaction(&db, 1, false));
    EXPECT_THROW(run(insert_in_transaction(&db, 2, true)), std::runtime_error);
    EXPECT_EQ(run(query_once(&db, "select sum(i) from kept")).get<int>(0, 0), 1);
    EXPECT_EQ(db.stats().created, 2U);
}

// Goes on after a statement has failed, as if nothing were wrong.
task<void> shrug(pool<connection>* db, std::string first, std::string second) {
    pooled<connection> c = (co_await db->acquire("shrug")).value();
    const auto body = [&first, &second](connection& on) -> task<void> {
        try {
            static_cast<void>(co_await on.query(first));
        } catch (const postgres::error&) {}
        try {
            static_cast<void>(co_await on.query(second, 7));
        } catch (const postgres::error&) {}
    };
    co_await postgres::with_transaction(c, body);
}

TEST_F(postgres_connection, POOL_209_a_transaction_in_which_a_statement_failed_does_not_look_committed) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    static_cast<void>(run(query_once(&db, "drop table if exists kept; create table kept(i int)")));
    for (const char* first :
         {"insert into kept values (1); select 1/0", "selekt 1", "select * from no_such_table", "select 1/0"}) {
        try {
            run(shrug(&db, first, "insert into kept values ($1)"));
            ADD_FAILURE() << first;
        } catch (const postgres::error& e) {
            EXPECT_EQ(e.state(), "25P02") << e.what();
        }
        EXPECT_EQ(run(query_once(&db, "select count(*) from kept")).get<int>(0, 0), 0) << first;
    }
}

task<void> statements_in_transaction(pool<connection>* db, std::vector<std::string>* seen) {
    pooled<connection> c = (co_await db->acquire("transaction")).value();
    static_cast<void>(co_await c->query("select 1"));
    co_await c->begin();
    EXPECT_TRUE(c->is_in_transaction());
    postgres::rows r = co_await c->query("select now() = $1::timestamptz, pg_current_xact_id_if_assigned()", "2000-01-01");
    EXPECT_EQ(r.width(), 2U);
    r = co_await c->query("select pg_current_xact_id()");
    seen->push_back(r.get<std::string>(0, 0));
    r = co_await c->query("select pg_current_xact_id()::text || $1", "");
    seen->push_back(r.get<std::string>(0, 0));
    co_await c->commit();
    EXPECT_FALSE(c->is_in_transaction());
    co_await c->begin();
    r = co_await c->query("insert into kept values (1); insert into kept values (2), (3)");
    EXPECT_EQ(r.command(), "INSERT 0 2");
    EXPECT_EQ(r.changes(), 2);
    co_await c->commit();
    co_await c->begin();
    co_await c->commit();
    EXPECT_FALSE(c->is_in_transaction()) << "nothing ran in it";
    r = co_await c->query("select count(*) from kept where i < $1", 4);
    EXPECT_EQ(r.get<int>(0, 0), 3);
    co_await c->begin();  // and gives it back
}

TEST_F(postgres_connection, POOL_209_begin_goes_with_the_first_statement) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    static_cast<void>(run(query_once(&db, "drop table if exists kept; create table kept(i int)")));
    std::vector<std::string> seen;
    run(statements_in_transaction(&db, &seen));
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], seen[1]) << "one transaction";
    EXPECT_EQ(run(query_once(&db, "select now() = statement_timestamp()")).text(0, 0), "t") << "the next user has none";
}

task<bool> cancel_first_statement(pool<connection>* db, int* process) {
    pooled<connection> c = (co_await db->acquire("transaction")).value();
    *process = c->server_process();
    co_await c->begin();
    auto slept = co_await move_on_after(std::chrono::milliseconds(60), c->query("select pg_sleep($1)", 3600));
    const bool ready = co_await c->make_ready();
    co_return !slept && ready;
}

// A server on a busy machine answers a cancel request late.
postgres::connect_options patient() {
    postgres::connect_options how;
    how.cancel_budget = std::chrono::minutes(2);
    return how;
}

TEST_F(postgres_connection, POOL_57_a_cancelled_first_statement_of_a_transaction_keeps_the_connection) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1), patient());
    int process = 0;
    EXPECT_TRUE(run(cancel_first_statement(&db, &process)));
    EXPECT_EQ(run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0), process);
}

// --- cancelling ------------------------------------------------------------------------------------------------------------------

task<void> sleep_in_server(pool<connection>* db, int* process, bool* went_on) {
    pooled<connection> c = (co_await db->acquire("sleeper")).value();
    *process = c->server_process();
    static_cast<void>(co_await c->query("select pg_sleep(3600)"));
    *went_on = true;
}
// As soon as its statement is on its way.
task<bool> cancel_soon(pool<connection>* db, int* process, bool* went_on) {
    const auto body = [db, process, went_on](scope& s) -> task<bool> {
        const job j = s.launch("sleeper", sleep_in_server(db, process, went_on));
        while (dump(j).find("waits on postgres query") == std::string::npos) {
            co_await sleep_for(std::chrono::milliseconds(1));
        }
        j.cancel();
        co_await j.join();
        co_return j.state() == job_state::cancelled;
    };
    co_return co_await with_scope(body);
}

TEST_F(postgres_connection, POOL_57_cancelling_a_task_stops_its_statement_and_keeps_the_connection) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1), patient());
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U);
    int process = 0;
    bool went_on = false;
    EXPECT_TRUE(run(cancel_soon(&db, &process, &went_on)));
    EXPECT_FALSE(went_on);
    EXPECT_EQ(run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0), process) << "the same connection, clean";
    EXPECT_EQ(db.stats().created, 1U);
}

TEST_F(postgres_connection, POOL_57_a_server_that_does_not_answer_costs_the_connection_not_the_task) {
    postgres::connect_options how;
    how.cancel_budget = std::chrono::milliseconds(50);
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1), how);
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U);
    pg->pause();
    int process = 0;
    bool went_on = false;
    EXPECT_TRUE(run(cancel_soon(&db, &process, &went_on)));
    EXPECT_FALSE(went_on);
    pg->go_on();
    EXPECT_NE(run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0), process);
    EXPECT_EQ(db.stats().created, 2U);
}

// --- broken connections --------------------------------------------------------------------------------------------------------------

TEST_F(postgres_connection, POOL_58_a_connection_closed_while_idle_is_replaced_before_it_is_given_out) {
    pool<connection> db = postgres::make_pool(pg->conninfo("idle"), options(2));
    const int process = run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0);
    pool<connection> other = postgres::make_pool(pg->conninfo("other"), options(1));
    static_cast<void>(run(query_once(&other, "select pg_terminate_backend(" + std::to_string(process) + ", 5000)")));
    EXPECT_NE(run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0), process);
    EXPECT_EQ(db.stats().checks_failed, 1U);
}

task<bool> meets_the_end(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire()).value();
    try {
        static_cast<void>(co_await c->query("select pg_terminate_backend(pg_backend_pid())"));
    } catch (const postgres::error& e) {
        co_return e.breaks_connection() && c->is_broken();
    }
    co_return false;
}

TEST_F(postgres_connection, POOL_58_a_statement_that_meets_the_end_says_so) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    EXPECT_TRUE(run(meets_the_end(&db)));
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U);
    EXPECT_EQ(db.stats().created, 2U);
}

TEST_F(postgres_connection, POOL_58_a_server_that_is_gone_is_an_error_and_one_that_is_back_is_used) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(2));
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U);
    pg->kill(SIGQUIT);
    EXPECT_THROW(static_cast<void>(run(query_once(&db, "select 1"))), pool_error);
    EXPECT_EQ(db.stats().free, 2U) << "no permit is lost";
    ASSERT_TRUE(pg->start());
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U);
}

}  // namespace
