// Servers, resolvers and users that do not do their part: every wait has a limit, and what could not be ended is named.

#include <roost/base/failure_sink.hpp>
#include <roost/observe/dump.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>

#include "fixture.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <cstring>
#include <mutex>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::seam;
using namespace postgres_testing;
using postgres::connection;

atomic<int> resolving{0};
event& let_go() {
    static event e("let go");
    return e;
}

}  // namespace

// The resolver of this program: two names of its own, the system's for the others.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
    if (name != nullptr && std::strcmp(name, "hangs.invalid") == 0) {
        resolving.fetch_add(1, mo::relaxed);
        let_go().wait_blocking();
        resolving.fetch_sub(1, mo::relaxed);
        return EAI_AGAIN;
    }
    if (name != nullptr && std::strcmp(name, "nowhere.invalid") == 0) {
        return EAI_NONAME;
    }
    using real_function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const auto real = reinterpret_cast<real_function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(name, service, hints, found);
}

namespace {

constexpr auto soon = std::chrono::milliseconds(200);

class postgres_limits : public with_server {
protected:
    // With the host's name in place of its address.
    [[nodiscard]] std::string at(const std::string& hosts) const {
        std::string text = pg->conninfo();
        text.replace(text.find("127.0.0.1"), std::strlen("127.0.0.1"), hosts);
        return text;
    }
};

task<std::string> error_of(task<connection> connects) {
    try {
        connection c = co_await std::move(connects);
        postgres::rows r = co_await c.query("select 1");
        co_return r.size() == 1 ? "" : "no row";
    } catch (const postgres::error& e) {
        co_return e.what();
    }
}

// --- names --------------------------------------------------------------------------------------------------------------------

TEST_F(postgres_limits, POOL_206_names_are_resolved_and_each_of_a_list_is_tried) {
    EXPECT_EQ(run(error_of(connection::connect(at("localhost"), {}))), "");
    EXPECT_EQ(run(error_of(connection::connect(at("nowhere.invalid,localhost"), {}))), "");
    const std::string none = run(error_of(connection::connect(at("nowhere.invalid"), {})));
    EXPECT_NE(none.find("the name 'nowhere.invalid' cannot be resolved"), std::string::npos) << none;
}

std::string told;
small_mutex told_lock;
void remember(std::string_view, std::string_view name, site, std::exception_ptr error) noexcept {
    const std::lock_guard<small_mutex> held(told_lock);
    told += std::string(name) + ": " + describe(error) + "\n";
}

task<> connect_and_give_up(std::string conninfo) {
    auto made = co_await move_on_after(soon, connection::connect(std::move(conninfo), {}));
    EXPECT_FALSE(made);
}
task<int> use_lane() {
    const int seven = co_await blocking(+[] { return 7; });
    co_return seven;
}

TEST_F(postgres_limits, POOL_206_a_resolver_that_hangs_costs_neither_the_task_nor_the_lane_and_is_named) {
    const failure_sink before = set_failure_sink(&remember);
    told.clear();
    {
        runtime narrow(runtime_options().workers(1).blocking_threads(1));
        postgres::connect_options how;
        how.connect_timeout = soon;
        how.sockets = std::make_shared<postgres::poller>("directory");
        const auto ask = [&] { return block_on(narrow, error_of(connection::connect(at("hangs.invalid"), how))); };
        const std::string slow = "connecting took too long: resolving the name 'hangs.invalid' has not ";
        for (int i = 0; i < 40 && resolving.load(mo::relaxed) < 4;
             ++i) {  // until every side thread hangs; one may begin late
            const std::string why = ask();
            EXPECT_NE(why.find(slow), std::string::npos) << why;
        }
        for (int i = 0; i < 2; ++i) {
            const std::string why = ask();
            EXPECT_NE(why.find(slow + "begun, because earlier calls have not returned"), std::string::npos) << why;
        }
        for (const char* host : {"127.0.0.1", "/tmp"}) {  // behind those
            const std::string why = block_on(narrow, error_of(connection::connect(at(host), how)));
            EXPECT_NE(why.find("connecting took too long: starting a connection has not begun"), std::string::npos) << why;
        }
        EXPECT_EQ(block_on(narrow, use_lane()), 7);
        block_on(narrow, connect_and_give_up(at("hangs.invalid")));
        EXPECT_GE(resolving.load(mo::relaxed), 1);
        EXPECT_LE(resolving.load(mo::relaxed), 5) << "four of one poller, one of the other";
    }
    set_failure_sink(before);
    EXPECT_NE(told.find("directory: std::runtime_error: resolving the name 'hangs.invalid' has not returned for"),
              std::string::npos)
        << told;
    let_go().set();
    while (resolving.load(mo::relaxed) != 0) {
        yield_thread();
    }
}

TEST_F(postgres_limits, POOL_206_the_first_statements_of_a_connection_have_the_limit_of_connecting) {
    postgres::connect_options how;
    how.connect_timeout = std::chrono::milliseconds(500);
    how.on_connect = "select pg_sleep(3600)";
    std::string why = run(error_of(connection::connect(pg->conninfo(), how)));
    for (int again = 0; again < 5 && why.find("connecting took too long") != std::string::npos; ++again) {
        how.connect_timeout *= 2;  // a busy machine: the limit passed before there was a statement
        why = run(error_of(connection::connect(pg->conninfo(), how)));
    }
    EXPECT_NE(why.find("did not answer in time"), std::string::npos) << why;
}

// --- servers that hang --------------------------------------------------------------------------------------------------------

task<> only_query(connection* c, std::string sql) { static_cast<void>(co_await c->query(std::move(sql))); }
// Cancels it when it has been sent and waits for the answer.
task<> query_and_cancel(scope& s, connection* c, std::string sql) {
    job j = s.launch("query", only_query(c, std::move(sql)));
    while (dump(j).find("waits on postgres query") == std::string::npos) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    j.cancel();
    co_await j.join();
    EXPECT_TRUE(c->is_broken());
}
task<> meet_frozen_server(server* pg, std::string conninfo, postgres::connect_options how) {
    connection c = co_await connection::connect(std::move(conninfo), how);
    pg->pause();
    co_await with_scope(query_and_cancel, &c, std::string("select pg_sleep(3600)"));
}

TEST_F(postgres_limits, POOL_204_a_cancel_request_that_hangs_does_not_keep_the_runtime) {
    const failure_sink before = set_failure_sink(&remember);
    told.clear();
    postgres::connect_options how;
    how.cancel_budget = soon;
    how.name = "orders";
    for (int again = 0; again < 5 && told.empty(); ++again) {
        event over;
        thread program([&] {
            roost::run(meet_frozen_server(pg, pg->conninfo(), how), runtime_options().workers(1));
            over.set();
        });
        EXPECT_TRUE(over.wait_blocking(deadline_after(now(), std::chrono::seconds(120))))
            << "the runtime waits for PQcancel";
        pg->go_on();
        program.join();
        how.cancel_budget *=
            2;  // a busy machine: the budget passed before the request had begun, and nothing was left behind
    }
    set_failure_sink(before);
    EXPECT_NE(told.find("orders: std::runtime_error: a cancel request of 'orders' has not returned for"), std::string::npos)
        << told;
}

TEST_F(postgres_limits, POOL_204_the_default_budget_fits_into_the_cancel_phase_of_a_service) {
    EXPECT_LT(postgres::connect_options().cancel_budget, std::chrono::seconds(4));
}

task<> meet_frozen_backend(pool<connection>* db, std::string sql, int* process) {
    pooled<connection> c = (co_await db->acquire("frozen")).value();
    *process = c->server_process();
    ::kill(*process, SIGSTOP);
    co_await with_scope(query_and_cancel, &*c, std::move(sql));
}

TEST_F(postgres_limits, POOL_204_a_frozen_backend_costs_the_connection_not_the_task) {
    postgres::connect_options how;
    how.cancel_budget = soon;
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1), how);
    const std::string large = "select length('" + std::string(50'000'000, 'x') + "')";  // more than the socket takes
    for (const std::string& sql : {std::string("select 1"), large}) {
        int process = 0;
        run(meet_frozen_backend(&db, sql, &process));
        EXPECT_NE(run(query_once(&db, "select pg_backend_pid()")).get<int>(0, 0), process);
        ::kill(process, SIGCONT);
    }
    EXPECT_EQ(db.stats().out, 0U);
    EXPECT_TRUE(db.close_blocking());
}

// --- reports ------------------------------------------------------------------------------------------------------------------

task<> sleep_in_server(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire("sleeper")).value();
    static_cast<void>(co_await c->query("select pg_sleep(3600)"));
}
task<> look_at_query(scope& s, pool<connection>& db) {
    job j = s.launch("sleeper", sleep_in_server(&db));
    while (dump(j).find("waits on postgres query 'orders'") == std::string::npos) {
        co_await sleep_for(std::chrono::milliseconds(1));
    }
    j.cancel();
    co_await j.join();
}
task<> in_scope(pool<connection>* db) { co_await with_scope(look_at_query, std::ref(*db)); }

TEST_F(postgres_limits, POOL_205_a_job_in_a_query_says_so_with_the_pools_name) {
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1, "orders"));
    run(in_scope(&db));
}

// --- text ---------------------------------------------------------------------------------------------------------------------

task<std::string> state_of(connection* c, std::string sql, std::string arg) {
    try {
        static_cast<void>(co_await c->query(std::move(sql), 1, std::move(arg)));
    } catch (const postgres::error& e) {
        co_return e.what();
    }
    co_return "";
}
task<> texts(std::string conninfo) {
    connection c = co_await connection::connect(std::move(conninfo), {});
    std::string why = co_await state_of(&c, "select $1::int, $2::text", std::string("a\0b", 3));
    EXPECT_EQ(why, "postgres: argument $2 has a NUL at byte 1, which PostgreSQL cannot hold (22021)");
    why = co_await state_of(&c, std::string("select $1::int, $2::text\0 -- and more", 36), "a");
    EXPECT_NE(why.find("the SQL text has a NUL at byte 24"), std::string::npos) << why;
    EXPECT_FALSE(c.is_broken());
    why = co_await state_of(&c, "select $1::int, $2::text", "a");
    EXPECT_EQ(why, "");
}

TEST_F(postgres_limits, POOL_207_text_with_a_nul_is_refused_and_not_cut) {
    run(texts(pg->conninfo()));
    const std::string conninfo = pg->conninfo() + std::string("\0 user=other", 12);
    EXPECT_NE(run(error_of(connection::connect(conninfo, {}))).find("has a NUL"), std::string::npos);
}

// --- closed -------------------------------------------------------------------------------------------------------------------

task<> use_closed(std::string conninfo) {
    connection c = co_await connection::connect(std::move(conninfo), {});
    c.close();
    c.close();
    std::string why = co_await state_of(&c, "select $1::int, $2::text", "a");
    EXPECT_NE(why.find("closed"), std::string::npos) << why;
    EXPECT_TRUE(c.is_broken());
    EXPECT_TRUE(c.has_been_closed());
    EXPECT_FALSE(c.is_in_transaction());
    EXPECT_EQ(c.server_process(), 0);
    EXPECT_EQ(c.native_handle(), nullptr);
    const bool ready = co_await c.make_ready();
    EXPECT_FALSE(ready);
}
task<> give_back_closed(pool<connection>* db) {
    pooled<connection> c = (co_await db->acquire()).value();
    c->close();
}

TEST_F(postgres_limits, POOL_208_a_closed_connection_answers_with_an_error_and_the_pool_replaces_it) {
    run(use_closed(pg->conninfo()));
    pool<connection> db = postgres::make_pool(pg->conninfo(), options(1));
    run(give_back_closed(&db));
    EXPECT_EQ(run(query_once(&db, "select 1")).size(), 1U);
    EXPECT_EQ(db.stats().created, 2U);
}

}  // namespace
