// 80 writers with transactions share one SQLite file and a blocking lane of 4 threads: every one of them commits, in time.
#include <roost/adapters/sqlite/connection.hpp>
#include <roost/roost.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

using namespace roost;
using namespace std::chrono_literals;

namespace {

constexpr int writers = 80;

// begin writer
task<> two_updates(sqlite::connection& c) {
    co_await c.query("update job set n = n + 1");
    co_await sleep_for(5ms);  // asks another service, say
    co_await c.query("update job set n = n + 1");
}

task<> writer(pool<sqlite::connection>& db, int& failed) {
    try {
        auto c = (co_await db.acquire("writer")).value();
        co_await sqlite::with_transaction(c, two_updates);
    } catch (const std::exception& e) {
        if (++failed == 1) {
            std::printf("a writer failed: %s\n", e.what());
        }
    }
}
// end writer

task<> all_writers(scope& s, pool<sqlite::connection>& db, int& failed) {
    for (int i = 0; i < writers; ++i) {
        s.launch("writer", writer(db, failed));
    }
    co_return;
}

task<int> play(pool<sqlite::connection>& db) {
    {
        auto c = (co_await db.acquire("set up")).value();
        co_await c->query("create table job(n); insert into job values (0)");
    }
    int failed = 0;
    co_await with_scope(all_writers, std::ref(db), std::ref(failed));
    std::int64_t n = 0;
    {
        auto c = (co_await db.acquire("count")).value();
        const sqlite::rows r = co_await c->query("select n from job");
        n = r.get<std::int64_t>(0, 0);
    }
    co_await db.close();
    std::printf("%d of %d writers committed, n is %lld\n", writers - failed, writers, static_cast<long long>(n));
    co_return failed == 0 && n == 2 * writers ? 0 : 1;
}

}  // namespace

int main() {
    ::alarm(60);
    char folder[] = "/tmp/roost-outside-XXXXXX";
    if (::mkdtemp(folder) == nullptr) {
        std::perror("a temporary folder");
        return 1;
    }
    const std::string file = std::string(folder) + "/writers.db";
    int code = 1;
    {
        runtime rt(runtime_options().workers(1).blocking_threads(4));
        pool_options o(32, "db");
        o.where = rt;
        o.timers = &rt.timers();
        sqlite::open_options how;
        how.busy_timeout =
            100s;  // more than the alarm: a busy machine is slow, writers that stand in each other's way never end
        auto db = sqlite::make_pool(file, o, how);
        code = block_on(rt, play(db));
    }
    ::unlink(file.c_str());
    ::rmdir(folder);
    return code;
}
