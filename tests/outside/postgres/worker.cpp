// A worker of jobs in PostgreSQL, while the server restarts and its backends freeze: every job has its effect exactly once. Then
// SIGTERM comes while a backend is frozen: the report names the job that waits for it, and the program ends in time.
#include <roost/adapters/postgres/connection.hpp>
#include <roost/roost.hpp>

#include "cluster.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <signal.h>
#include <unistd.h>

using namespace roost;
using namespace std::chrono_literals;
using database = pool<postgres::connection>;

namespace {

constexpr int jobs = 1000;
constexpr int workers = 8;

std::atomic<int> finished{0};
std::atomic<int> failures{0};
std::atomic<int> gave_up{0};
std::atomic<int> frozen{0};  // a backend

// begin job
task<bool> do_one(postgres::connection& c) {
    const postgres::rows next =
        co_await c.query("select id from job where not done order by id for update skip locked limit 1");
    if (next.empty()) {
        co_return false;
    }
    co_await c.query("insert into effect select $1::int from pg_sleep(0.02)", next.get<int>(0, 0));
    co_await c.query("update job set done = true where id = $1", next.get<int>(0, 0));
    co_return true;
}
task<bool> one_job(database& db) {
    auto c = (co_await db.acquire("job")).value();
    co_return co_await postgres::with_transaction(c, do_one);
}
// end job
task<int> count_left(database& db) {
    auto c = (co_await db.acquire("count")).value();
    const postgres::rows left = co_await c->query("select count(*) from job where not done");
    co_return left.get<int>(0, 0);
}

// begin worker
// Nothing here knows of restarts: a failure is an exception, a server that hangs a deadline, and either is tried again.
task<> worker(database& db) {
    for (;;) {
        bool failed = false;
        try {
            const auto did = co_await move_on_after(500ms, one_job(db));
            if (!did) {
                ++gave_up;
            } else if (*did) {
                ++finished;
            } else {
                const auto left = co_await count_left(db);
                if (left == 0) {
                    co_return;
                }
            }
        } catch (const std::exception&) {
            failed = true;
        }
        if (failed) {
            ++failures;
            co_await sleep_for(20ms);
        }
    }
}
// end worker
task<> all_workers(scope& s, database& db) {
    for (int i = 0; i < workers; ++i) {
        s.launch("worker", worker(db));
    }
    co_return;
}

task<> do_all(database& db) { co_await with_scope(all_workers, std::ref(db)); }

task<> set_up(database& db) {
    auto c = (co_await db.acquire("set up")).value();
    co_await c->query(
        "create table job(id int primary key, done bool default false); create table effect(id int);"
        "insert into job(id) select generate_series(1, " +
        std::to_string(jobs) + ")");
}
task<int> backend_in_use(database& db) {
    auto c = (co_await db.acquire("look")).value();
    const postgres::rows r = co_await c->query(
        "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1");
    co_return r.empty() ? 0 : r.get<int>(0, 0);
}

// Freezes a backend for longer than a job may take, and kills the server, again and again.
void make_trouble(cluster& pg, runtime& rt, database& db, const std::atomic<bool>& over) {
    for (int round = 0; round < 2 && !over; ++round) {
        int pid = 0;
        try {
            pid = block_on(rt, backend_in_use(db));
        } catch (const std::exception&) {}
        if (pid > 0 && ::kill(pid, SIGSTOP) == 0) {
            std::this_thread::sleep_for(700ms);
            ::kill(pid, SIGCONT);
        }
        pg.stop();
        pg.start();
        std::this_thread::sleep_for(100ms);
    }
}

task<bool> is_exactly_once(database& db) {
    auto c = (co_await db.acquire("check")).value();
    const postgres::rows r =
        co_await c->query("select count(*), count(distinct id), (select count(*) from job where done) from effect");
    std::printf("%s effects of %s jobs, %s done\n", r.get<std::string>(0, 0).c_str(), r.get<std::string>(0, 1).c_str(),
                r.get<std::string>(0, 2).c_str());
    co_return r.get<int>(0, 0) == jobs&& r.get<int>(0, 1) == jobs&& r.get<int>(0, 2) == jobs;
}

task<> hold(database& db) {
    auto c = (co_await db.acquire("holder")).value();
    frozen = c->server_process();
    ::kill(frozen, SIGSTOP);
    co_await c->query("select 1");
}

// What a service does on SIGTERM: says who holds it up, cancels, joins.
bool ends_on_sigterm(runtime& rt, database& db, const sigset_t& signals) {
    owned_scope root(rt, "jobs");
    const job holder = root.launch("holder", hold(db));
    std::string report;
    for (int i = 0; i < 1000 && report.find("waits on postgres query 'orders'") == std::string::npos; ++i) {
        std::this_thread::sleep_for(10ms);
        report = observe::dump(root);
    }
    ::kill(::getpid(), SIGTERM);
    int got = 0;
    ::sigwait(&signals, &got);
    const auto began = std::chrono::steady_clock::now();
    std::printf("%s", report.c_str());
    root.cancel();
    while (!holder.is_finished() && std::chrono::steady_clock::now() - began < 20s) {
        std::this_thread::sleep_for(5ms);
    }
    const auto took = std::chrono::steady_clock::now() - began;
    const bool ended = holder.is_finished();
    std::printf("the holder %s %.1f s after SIGTERM\n", ended ? "ended" : "has not ended",
                std::chrono::duration<double>(took).count());
    ::kill(frozen, SIGCONT);
    root.close_blocking();
    return ended && report.find("job 'holder'") != std::string::npos &&
           report.find("waits on postgres query 'orders'") != std::string::npos;
}

}  // namespace

int main() {
    ::alarm(110);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    cluster pg;
    if (!pg.is_installed()) {
        std::printf("skipped: PostgreSQL's server is not installed\n");
        return 77;
    }
    if (!pg.is_set_up() || !pg.start()) {
        std::printf("wrong: the server does not start\n");
        return 1;
    }
    bool right = true;
    {
        // begin options
        runtime rt(runtime_options().workers(2));
        pool_options o(workers + 2, "orders");
        o.where = rt;
        o.timers = &rt.timers();
        postgres::connect_options how;
        how.connect_timeout = 2s;
        how.cancel_budget = 300ms;
        auto db = postgres::make_pool(pg.conninfo(), o, how);
        // end options
        block_on(rt, set_up(db));
        std::atomic<bool> over{false};
        std::thread trouble([&] { make_trouble(pg, rt, db, over); });
        block_on(rt, do_all(db));
        over = true;
        trouble.join();
        right = block_on(rt, is_exactly_once(db)) && right;
        right = ends_on_sigterm(rt, db, signals) && right;
    }
    std::printf("%d jobs finished as far as the workers know, %d took too long, %d attempts failed\n", finished.load(),
                gave_up.load(), failures.load());
    if (!right) {
        std::printf("wrong\n");
    }
    return right ? 0 : 1;
}
