// The processor time of jobs in PostgreSQL, of this process only: threads that use libpq directly, a connection each, against
// tasks that share a pool. A job is a transaction with one update. Prints both and their ratio; measured by turns, in one run.
//
//   busy   3000 jobs as fast as possible, 16 connections
//   paced  2000 jobs in 2 seconds, 4 connections: each job takes 4 ms in the server, so the program sleeps in between
//
//   postgres_jobs [rounds]       starts a private server; exits 77 when PostgreSQL is not installed

#include <roost/adapters/postgres/connection.hpp>
#include <roost/roost.hpp>

#include "../../tests/outside/postgres/cluster.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

using namespace roost;
using database = pool<postgres::connection>;

namespace {

class load {
public:
    constexpr load(const char* called, int count, int lines, const char* sql) noexcept
        : name(called), jobs(count), connections(lines), statement(sql) {}
    const char* name;
    int jobs;
    int connections;
    const char* statement;
};
constexpr load busy("busy", 3000, 16, "update job set done = done + 1 where id = $1 returning id");
constexpr load paced("paced", 2000, 4, "update job set done = done + 1 where id = $1 returning id, pg_sleep(0.004)");

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void require(bool right, const char* what) {
    if (!right) {
        std::printf("wrong: %s\n", what);
        std::exit(1);
    }
}

// --- libpq in threads --------------------------------------------------------------------------------------------------------

void work_in_thread(const load& what, const std::string& conninfo, std::atomic<int>& next) {
    PGconn* c = PQconnectdb(conninfo.c_str());
    require(PQstatus(c) == CONNECTION_OK, "no connection");
    for (int i = next++; i < what.jobs; i = next++) {
        const std::string id = std::to_string(i);
        const char* const values[] = {id.c_str()};
        PQclear(PQexec(c, "begin"));
        PGresult* r = PQexecParams(c, what.statement, 1, nullptr, values, nullptr, nullptr, 0);
        require(PQntuples(r) == 1, "a job was not done");
        PQclear(r);
        PQclear(PQexec(c, "commit"));
    }
    PQfinish(c);
}
void in_threads(const load& what, const std::string& conninfo) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < what.connections; ++i) {
        threads.emplace_back([&] { work_in_thread(what, conninfo, next); });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

// --- tasks -------------------------------------------------------------------------------------------------------------------

task<> one_job(const load& what, database& db, int i) {
    auto c = (co_await db.acquire("job")).value();
    const auto body = [i, &what](postgres::connection& on) -> task<> {
        const postgres::rows r = co_await on.query(what.statement, i);
        require(r.size() == 1, "a job was not done");
    };
    co_await postgres::with_transaction(c, body);
}
task<> worker(const load& what, database& db, std::atomic<int>& next) {
    for (int i = next++; i < what.jobs; i = next++) {
        co_await one_job(what, db, i);
    }
}
task<> workers(scope& s, const load& what, database& db, std::atomic<int>& next) {
    for (int i = 0; i < what.connections; ++i) {
        s.launch("worker", worker(what, db, next));
    }
    co_return;
}
task<> all(const load& what, database& db) {
    std::atomic<int> next{0};
    co_await with_scope(workers, std::cref(what), std::ref(db), std::ref(next));
    co_await db.close();
}
void in_tasks(const load& what, const std::string& conninfo) {
    runtime rt;
    pool_options o(static_cast<std::uint32_t>(what.connections), "jobs");
    o.where = rt;
    o.timers = &rt.timers();
    auto db = postgres::make_pool(conninfo, o);
    block_on(rt, all(what, db));
}

template <class Way>
double measure(Way way, const load& what, const std::string& conninfo) {
    const double before = processor_seconds();
    way(what, conninfo);
    return processor_seconds() - before;
}
double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}
double least(const std::vector<double>& of) { return *std::min_element(of.begin(), of.end()); }

void compare(const load& what, int rounds, const std::string& conninfo) {
    std::vector<double> threads;
    std::vector<double> tasks;
    for (int i = 0; i < rounds; ++i) {
        threads.push_back(measure(in_threads, what, conninfo));
        tasks.push_back(measure(in_tasks, what, conninfo));
    }
    std::printf(
        "%s: %d jobs, %d connections, %d rounds: libpq in threads %.0f ms, tasks %.0f ms of processor time, %.2f times "
        "(medians); %.0f and %.0f ms, %.2f times (least)\n",
        what.name, what.jobs, what.connections, rounds, 1e3 * median(threads), 1e3 * median(tasks),
        median(tasks) / median(threads), 1e3 * least(threads), 1e3 * least(tasks), least(tasks) / least(threads));
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
    cluster pg;
    if (!pg.is_installed()) {
        std::printf("skipped: PostgreSQL's server is not installed\n");
        return 77;
    }
    require(pg.is_set_up() && pg.start(), "the server does not start");
    PGconn* c = PQconnectdb(pg.conninfo().c_str());
    PQclear(PQexec(
        c, "create table job(id int primary key, done int); insert into job select i, 0 from generate_series(0, 2999) i"));
    PQfinish(c);
    compare(busy, rounds, pg.conninfo());
    compare(paced, rounds, pg.conninfo());
    return 0;
}
