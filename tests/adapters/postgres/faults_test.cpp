// Scenario 13 for PostgreSQL: the Nth allocation fails and the Nth call of user code throws, in every public function of the
// adapter that can. Afterwards the same works, nothing has leaked, and the table holds what was committed. Executor and blocking
// lane are one thread; the poller's own only posts to it. What a side thread does to start a connection is not tried here. Skipped where no server is installed, except for the poller.
//
// not tried: postgres::rows::column, postgres::rows::get, postgres::rows::is_null, postgres::rows::text: values made of strings
// not tried: postgres::to_parameter, postgres::error::error: values made of strings

#include "../../gauntlet/fault_rows.hpp"
#include "../../gauntlet/quiet.hpp"
#include "../one_thread.hpp"
#include "fixture.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace roost;
using adapters_testing::one_thread;
using adapters_testing::play_on;
using adapters_testing::silence;
using gauntlet::user;
using postgres::connection;

const std::string long_text(100, 't');
std::string conninfo;

postgres::connect_options how() {
    postgres::connect_options o;
    o.on_connect = "set client_min_messages = warning";
    return o;
}
void makes_poller() {
    const postgres::poller p(long_text);
    user();
}
task<> queries() {
    connection c = co_await connection::connect(conninfo, how());
    user();
    postgres::rows r = co_await c.query("select $1::text, $2::int", long_text, 7);
    EXPECT_EQ(r.text(0, 0), long_text);
    std::vector<postgres::parameter> given;
    given.emplace_back(long_text);
    r = co_await c.query_parameters("select length($1)", std::move(given));
    EXPECT_EQ(r.get<int>(0, 0), 100);
    co_await c.begin();
    r = co_await c.query("select length($1)", long_text);
    co_await c.commit();
    static_cast<void>(co_await c.query("begin"));
    const bool ready = co_await c.make_ready();
    EXPECT_TRUE(ready);
    EXPECT_FALSE(c.is_in_transaction());
}
// What the server says is an error, or there is no memory to say it.
task<> fails_in_the_server() {
    connection c = co_await connection::connect(conninfo, how());
    bool refused = false;
    try {
        static_cast<void>(co_await c.query("select 'no number'::int"));
    } catch (const postgres::error& e) {
        refused = true;
        EXPECT_EQ(e.state(), "22P02");
    }
    EXPECT_TRUE(refused);
    EXPECT_FALSE(c.is_broken());
}
void plays(task<> t) {
    one_thread where;
    play_on(where, std::move(t), true);
}

task<> closes(pool<connection>& db) { co_await db.close(); }
// The loan of a connection, and proof that it came back.
template <class Use>
void with_pool(Use use) {
    one_thread where;
    pool_options o(1, "pg");
    o.where = where;
    o.timers = where.timers();
    o.on_error = [](const pool_error&) {};
    pool<connection> db = postgres::make_pool(conninfo, std::move(o), how());
    std::exception_ptr failed;
    try {
        play_on(where, use(db), true);
    } catch (...) {
        failed = std::current_exception();
    }
    EXPECT_EQ(db.stats().out, 0U);
    {
        const gauntlet::calm unharmed;
        play_on(where, closes(db), true);
    }
    if (failed) {
        std::rethrow_exception(failed);
    }
}
task<> borrows(pool<connection>& db) {
    for (int i = 0; i < 2; ++i) {
        pooled<connection> c = (co_await db.acquire("borrower")).value();
        static_cast<void>(co_await c->query("select 1"));
        user();
    }
}
task<> inserts_two(connection& c) {
    static_cast<void>(co_await c.query("insert into faults values ($1)", long_text));
    user();
    static_cast<void>(co_await c.query("insert into faults values ($1)", long_text));
    user();
}
task<> transacts(pool<connection>& db) {
    pooled<connection> c = (co_await db.acquire("transaction")).value();
    co_await postgres::with_transaction(c, inserts_two);
}
task<> runs(std::string sql, int& number) {
    connection c = co_await connection::connect(conninfo, how());
    postgres::rows r = co_await c.query(std::move(sql));
    number = r.size() == 0 ? 0 : r.get<int>(0, 0);
}
int asked(const char* sql) {
    const gauntlet::calm unharmed;
    int number = -1;
    plays(runs(sql, number));
    return number;
}
void transacts_or_not() {
    const int before = asked("select count(*)::int from faults");
    std::exception_ptr failed;
    try {
        with_pool(transacts);
    } catch (...) {
        failed = std::current_exception();
    }
    const int added = asked("select count(*)::int from faults") - before;
    EXPECT_TRUE(added == 2 || (failed && added == 0)) << added << " rows of a transaction of two";
    if (failed) {
        std::rethrow_exception(failed);
    }
}

const gauntlet::fault_row poller_table[] = {
    {"postgres::poller::poller", makes_poller},
};
const gauntlet::fault_row table[] = {
    // also postgres::connection::query, postgres::connection::query_parameters, postgres::connection::make_ready
    // also postgres::connection::begin, postgres::connection::commit
    {"postgres::connection::connect", [] { plays(queries()); }},
    {"postgres::connection::query", [] { plays(fails_in_the_server()); }},
    {"postgres::make_pool", [] { with_pool(borrows); }},
    {"postgres::with_transaction", transacts_or_not},
};

TEST(poller_faults, GAUNTLET_13_the_nth_fault_where_a_poller_is_made) {
    const gauntlet::quiet q("scenario 13");
    const long faults = gauntlet::try_rows(poller_table);
    q.say("%ld faults where a poller is made, no thread and no descriptor left", faults);
}

class postgres_faults : public postgres_testing::with_server {};

TEST_F(postgres_faults, GAUNTLET_13_POOL_54_the_nth_allocation_and_the_nth_call_fail_in_the_adapter) {
    conninfo = pg->conninfo("faults");
    static_cast<void>(asked("create table if not exists faults(name text)"));
    {
        const gauntlet::quiet q("scenario 13");
        const silence nothing_said;
        const long faults = gauntlet::try_rows(table);
        q.say("%zu rows of PostgreSQL, %ld faults, none leaked, the same worked afterwards", std::size(table), faults);
    }
    conninfo.clear();
}

}  // namespace
