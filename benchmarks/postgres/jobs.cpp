// The processor time of 3000 jobs in PostgreSQL, of this process only: threads that use libpq directly, a connection each, against
// tasks that share a pool. A job is a transaction with one update. Prints both and their ratio; measured by turns, in one run.
//
//   postgres_jobs [rounds]       starts a private server; exits 77 when PostgreSQL is not installed

#include <roost/adapters/postgres/connection.hpp>
#include <roost/roost.hpp>

#include "../../tests/outside/postgres/cluster.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

using namespace roost;
using database = pool<postgres::connection>;

namespace {

constexpr int jobs = 3000;
constexpr int connections = 16;
constexpr const char* update = "update job set done = done + 1 where id = $1 returning id";

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

void work_in_thread(const std::string& conninfo, std::atomic<int>& next) {
    PGconn* c = PQconnectdb(conninfo.c_str());
    require(PQstatus(c) == CONNECTION_OK, "no connection");
    for (int i = next++; i < jobs; i = next++) {
        const std::string id = std::to_string(i);
        const char* const values[] = {id.c_str()};
        PQclear(PQexec(c, "begin"));
        PGresult* r = PQexecParams(c, update, 1, nullptr, values, nullptr, nullptr, 0);
        require(PQntuples(r) == 1, "a job was not done");
        PQclear(r);
        PQclear(PQexec(c, "commit"));
    }
    PQfinish(c);
}
void in_threads(const std::string& conninfo) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < connections; ++i) {
        threads.emplace_back([&] { work_in_thread(conninfo, next); });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

// --- tasks -------------------------------------------------------------------------------------------------------------------

task<> one_job(database& db, int i) {
    auto c = (co_await db.acquire("job")).value();
    const auto body = [i](postgres::connection& on) -> task<> {
        const postgres::rows r = co_await on.query(update, i);
        require(r.size() == 1, "a job was not done");
    };
    co_await postgres::with_transaction(c, body);
}
task<> worker(database& db, std::atomic<int>& next) {
    for (int i = next++; i < jobs; i = next++) {
        co_await one_job(db, i);
    }
}
task<> workers(scope& s, database& db, std::atomic<int>& next) {
    for (int i = 0; i < connections; ++i) {
        s.launch("worker", worker(db, next));
    }
    co_return;
}
task<> all(database& db) {
    std::atomic<int> next{0};
    co_await with_scope(workers, std::ref(db), std::ref(next));
    co_await db.close();
}
void in_tasks(const std::string& conninfo) {
    runtime rt;
    pool_options o(connections, "jobs");
    o.where = rt;
    o.timers = &rt.timers();
    auto db = postgres::make_pool(conninfo, o);
    block_on(rt, all(db));
}

template <class Way>
double measure(Way way, const std::string& conninfo) {
    const double before = processor_seconds();
    way(conninfo);
    return processor_seconds() - before;
}
double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}
double least(const std::vector<double>& of) { return *std::min_element(of.begin(), of.end()); }

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
    std::vector<double> threads;
    std::vector<double> tasks;
    for (int i = 0; i < rounds; ++i) {
        threads.push_back(measure(in_threads, pg.conninfo()));
        tasks.push_back(measure(in_tasks, pg.conninfo()));
    }
    std::printf(
        "%d jobs, %d connections, %d rounds: libpq in threads %.0f ms, tasks %.0f ms of processor time, %.2f times "
        "(medians); "
        "%.0f and %.0f ms, %.2f times (least)\n",
        jobs, connections, rounds, 1e3 * median(threads), 1e3 * median(tasks), median(tasks) / median(threads),
        1e3 * least(threads), 1e3 * least(tasks), least(tasks) / least(threads));
    return 0;
}
