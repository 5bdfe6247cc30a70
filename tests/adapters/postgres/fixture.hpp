#pragma once

#include <roost/adapters/postgres/connection.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "server.hpp"

namespace postgres_testing {

// A running server and a runtime with two workers; the test is skipped where PostgreSQL is not installed.
class with_server : public testing::Test {
protected:
    void SetUp() override {
        pg = server::get();
        if (pg == nullptr) {
            GTEST_SKIP() << "PostgreSQL's server is not installed";
        }
        ASSERT_TRUE(pg->start());
    }
    [[nodiscard]] roost::pool_options options(std::uint32_t capacity, const char* name = "pg") {
        roost::pool_options o(capacity, name);
        o.where = rt;
        o.timers = &rt.timers();
        return o;
    }
    template <class T>
    T run(roost::task<T> t) {
        return roost::block_on(rt, std::move(t));
    }

    roost::runtime rt{roost::runtime_options().workers(2)};
    server* pg = nullptr;
};

inline roost::task<roost::postgres::rows> query_once(roost::pool<roost::postgres::connection>* db, std::string sql) {
    auto got = co_await db->acquire("query_once");
    roost::pooled<roost::postgres::connection> c = std::move(got).value();
    co_return co_await c->query(std::move(sql));
}

// Connections of an application as the server sees them, asked through a connection of another one.
inline roost::task<int> count_connections(std::string conninfo, std::string application) {
    roost::postgres::connection c = co_await roost::postgres::connection::connect(std::move(conninfo), {});
    roost::postgres::rows r =
        co_await c.query("select count(*) from pg_stat_activity where application_name = $1", std::move(application));
    co_return r.get<int>(0, 0);
}

}  // namespace postgres_testing
