// Load with random cancellation while the server is killed and started again. Length: ROOST_STRESS_SECONDS (at least 4).
//
// Afterwards: every attempt has ended in success, error or cancel; every permit is there; the server knows exactly the
// connections the pool says it has, and none after it was closed.

#include "fixture.hpp"

#include <cinttypes>
#include <cstdio>

namespace {

using namespace roost;
using namespace roost::seam;
using namespace postgres_testing;
using postgres::connection;

struct tally {
    atomic<std::uint64_t> tried{0};
    atomic<std::uint64_t> succeeded{0};
    atomic<std::uint64_t> failed{0};
    atomic<std::uint64_t> cancelled{0};
    atomic<bool> over{false};
};

void count(atomic<std::uint64_t>& what) { what.fetch_add(1, mo::relaxed); }
std::uint64_t read(const atomic<std::uint64_t>& what) { return what.load(mo::relaxed); }

task<void> use_once(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire("load")).value();
    switch (random_u64() % 4) {
        case 0: static_cast<void>(co_await c->query("select 1")); break;
        case 1: static_cast<void>(co_await c->query("select pg_sleep($1)", double(random_u64() % 20) / 1000)); break;
        case 2: {
            const auto body = [](connection& on) -> task<void> {
                static_cast<void>(co_await on.query("insert into load values ($1)", random_u64() % 1000));
                static_cast<void>(co_await on.query("select count(*) from load"));
            };
            co_await postgres::with_transaction(c, body);
            break;
        }
        default: static_cast<void>(co_await c->query("select $1 || repeat('x', 20000)", random_u64())); break;
    }
}

task<void> one_attempt(pool<connection>* db, tally* t) {
    count(t->tried);
    auto ended = co_await as_outcome(move_on_after(std::chrono::microseconds(random_u64() % 20000), use_once(db)));
    if (ended.is_cancelled() || (ended.has_value() && !ended.value())) {
        count(t->cancelled);
    } else if (ended.has_value()) {
        count(t->succeeded);
    } else {
        count(t->failed);
        co_await sleep_for(std::chrono::milliseconds(1));  // the server may be away
    }
}
task<void> client(pool<connection>* db, tally* t) {
    while (!t->over.load(mo::relaxed)) {
        co_await one_attempt(db, t);
    }
}
task<void> many_clients(pool<connection>* db, tally* t, int clients) {
    const auto body = [db, t, clients](scope& s) -> task<void> {
        for (int i = 0; i < clients; ++i) {
            s.launch("client", client(db, t));
        }
        co_return;
    };
    co_await with_scope(body);
}

class postgres_connection : public with_server {
protected:
    static int seconds() {
        const char* text = std::getenv("ROOST_STRESS_SECONDS");
        const int asked = text == nullptr ? 0 : std::atoi(text);
        return asked < 4 ? 4 : asked;
    }
    // Kills and starts the server until the time is over; how often.
    int be_unkind(time_point until) {
        const int ways[] = {SIGQUIT, SIGINT, SIGQUIT};
        int kills = 0;
        while (now() < until) {
            ::usleep(static_cast<useconds_t>(400'000 + random_u64() % 1'200'000));
            pg->kill(ways[kills % 3]);
            ++kills;
            ::usleep(static_cast<useconds_t>(random_u64() % 300'000));
            EXPECT_TRUE(pg->start());
        }
        return kills;
    }
};

TEST_F(postgres_connection, POOL_58_restarts_under_load_with_cancellation_lose_nothing) {
    postgres::connect_options how;
    how.cancel_budget = std::chrono::seconds(2);
    pool_options o = options(6, "load");
    o.create_timeout = std::chrono::seconds(5);
    o.stripes = 2;
    pool<connection> db = postgres::make_pool(pg->conninfo("load"), o, how);
    static_cast<void>(run(query_once(&db, "drop table if exists load; create table load(i bigint)")));

    tally t;
    thread clients([&] { run(many_clients(&db, &t, 12)); });
    const int kills = be_unkind(now() + std::chrono::seconds(seconds()));
    ::usleep(300'000);  // some load on the last server, too
    t.over.store(true, mo::relaxed);
    clients.join();

    EXPECT_EQ(read(t.tried), read(t.succeeded) + read(t.failed) + read(t.cancelled));
    EXPECT_GT(read(t.succeeded), 0U);  // how many is a matter of the machine's speed
    EXPECT_GT(read(t.cancelled), 0U);
    const auto settled = [&] {
        const pool_stats s = db.stats();
        return s.out == 0 && s.busy == 0 && s.waiting == 0 && s.free + s.idle == s.capacity;
    };
    for (int i = 0; i < 600 && !settled(); ++i) {
        ::usleep(10'000);  // creations that are no longer awaited
    }
    const pool_stats s = db.stats();
    EXPECT_TRUE(settled()) << "free " << s.free << " idle " << s.idle << " out " << s.out << " busy " << s.busy
                           << " waiting " << s.waiting;
    const auto in_server = [&] { return run(count_connections(pg->conninfo("asks"), "load")); };
    for (int i = 0; i < 300 && in_server() > static_cast<int>(s.idle); ++i) {
        ::usleep(10'000);  // the server takes a moment to see that a socket was closed
    }
    EXPECT_LE(in_server(), static_cast<int>(s.idle)) << "a connection without an owner";
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U) << "the pool works";
    EXPECT_TRUE(db.close_blocking(now() + std::chrono::seconds(10)));
    for (int i = 0; i < 300 && in_server() != 0; ++i) {
        ::usleep(10'000);
    }
    EXPECT_EQ(in_server(), 0);
    std::printf("%d restarts, %" PRIu64 " attempts: %" PRIu64 " succeeded, %" PRIu64 " failed, %" PRIu64
                " cancelled; %" PRIu64 " connections made, %" PRIu64 " failed to connect, %" PRIu64 " checks failed\n",
                kills, read(t.tried), read(t.succeeded), read(t.failed), read(t.cancelled), s.created, s.create_failures,
                s.checks_failed);
}

}  // namespace
