// A queue of jobs in SQLite: a pool of connections, a query, a transaction.

#include <roost/adapters/sqlite/connection.hpp>
#include <roost/roost.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace roost;

namespace {

// begin body
// Commits when it returns; an exception or a cancel costs the connection, so nothing of it stays.
task<> finish_job(sqlite::connection& c) {
    const sqlite::rows ready = co_await c.query("select id from job where state = ? order by id", "ready");
    const auto first = ready.get<std::int64_t>(0, 0);
    static_cast<void>(co_await c.query("update job set state = 'done' where id = ?", first));
}

task<std::int64_t> finish_one(pool<sqlite::connection>& db) {
    auto c = (co_await db.acquire("finish one")).value();
    co_await sqlite::with_transaction(c, finish_job);
    const sqlite::rows left = co_await c->query("select count(*) from job where state = ?", "ready");
    co_return left.get<std::int64_t>(0, 0);
}
// end body

task<int> play(pool<sqlite::connection>& db) {
    {
        auto c = (co_await db.acquire("set up")).value();
        static_cast<void>(co_await c->query("create table job (id integer primary key, state text)"));
        static_cast<void>(co_await c->query("insert into job (state) values ('ready'), ('ready'), ('ready')"));
    }
    const std::int64_t left = co_await finish_one(db);
    co_await db.close();
    std::printf("%lld of 3 jobs are left\n", static_cast<long long>(left));
    co_return left == 2 ? 0 : 1;
}

}  // namespace

int main() {
    char file[] = "/tmp/roost-example-XXXXXX";
    const int made = ::mkstemp(file);
    if (made < 0) {
        std::perror("a temporary file");
        return 1;
    }
    ::close(made);
    runtime rt;
    pool_options o(4, "jobs");
    o.where = rt;
    o.timers = &rt.timers();
    pool<sqlite::connection> db = sqlite::make_pool(file, o);
    const int code = block_on(rt, play(db));
    ::unlink(file);
    return code;
}
