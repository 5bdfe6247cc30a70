// A user of one part that has a pkg-config file of its own; -DPART_<name> says which.

#if defined(PART_asio)
#include <roost/asio/async_run.hpp>
#elif defined(PART_admin)
#include <roost/admin/admin.hpp>
#elif defined(PART_sqlite)
#include <roost/adapters/sqlite/connection.hpp>
#elif defined(PART_postgres)
#include <roost/adapters/postgres/connection.hpp>
#elif defined(PART_testing)
#include <roost/testing/virtual_time.hpp>
#endif
#include <roost/roost.hpp>

#include <cstdio>

namespace {

[[maybe_unused]] roost::task<int> seven() { co_return 7; }
[[maybe_unused]] roost::task<> keep(roost::task<int> t, int& got) { got = co_await std::move(t); }

int use_part() {
#if defined(PART_asio)
#if defined(ROOST_ASIO_STANDALONE)
    asio::io_context io;
#else
    boost::asio::io_context io;
#endif
    return roost::run(io, seven());
#elif defined(PART_admin)
    const roost::admin::server door(roost::admin::listen(0));
    return door.port() != 0 ? 7 : 0;
#elif defined(PART_sqlite)
    auto c = roost::sqlite::connection::open(":memory:");
    return static_cast<int>(c.query_blocking("select 7").get<std::int64_t>(0, 0));
#elif defined(PART_postgres)
    try {
        roost::pool_options o(1, "orders");
        roost::runtime rt;
        o.where = rt;
        o.timers = &rt.timers();
        auto db = roost::postgres::make_pool("host=/nowhere", o);
        static_cast<void>(db.close_blocking());
        return 7;
    } catch (const std::exception& e) {
        std::puts(e.what());
        return 0;
    }
#elif defined(PART_testing)
    roost::testing::virtual_time clock;
    roost::owned_scope root(clock, roost::scope_options("root").report_failures());
    int got = 0;
    root.launch("seven", keep(seven(), got));
    root.request_close();
    clock.run();
    return root.is_closed() ? got : 0;
#endif
}

}  // namespace

int main() { return use_part() == 7 ? 0 : 1; }
