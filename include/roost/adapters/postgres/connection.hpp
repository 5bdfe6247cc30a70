#pragma once

// PostgreSQL behind a pool: libpq without blocking, one poller thread for all connections.
//
//   pool<postgres::connection> db = postgres::make_pool("host=... dbname=...", options);   // options.where: an executor
//   auto c = (co_await db.acquire("report")).value();
//   postgres::rows r = co_await c->query("select id, text from job where state = $1", "ready");
//
// A statement is one await: sending and receiving go on on the task's executor whenever the socket is ready. Cancelling the
// task sends a cancel request and waits until the server has answered both, at most `cancel_budget`: then the connection is
// clean and stays in the pool, and the task ends cancelled. A server that does not answer in time costs the connection, not
// the task. A statement that was faster than its cancel has happened; its result is returned and the next checkpoint ends the
// task.
//
// Nothing here waits without a limit. Resolving a name and sending a cancel request (PQcancel) cannot be interrupted, so they
// run on up to four side threads each, none of the runtime's. When their limit passes they are abandoned: the task goes on,
// the thread stays until the call returns, and what is still running when the poller ends is reported by name.
//
// A connection that the server or the network has closed is_broken() and is replaced by the pool: noticed by the statement
// that meets it, or when the pool would give it out. One user at a time, which is what a pool is for.

#include <roost/adapters/postgres/poller.hpp>
#include <roost/adapters/postgres/values.hpp>
#include <roost/pool/detail/transaction.hpp>
#include <roost/pool/pool.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/task.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct pg_conn;

namespace roost::inline ROOST_ABI::postgres {

namespace detail {
class session;
}

struct connect_options {
    connect_options() noexcept = default;
    duration connect_timeout = std::chrono::seconds(10);  // with resolving the name, and with on_connect
    duration cancel_budget = std::chrono::seconds(2);  // shorter than the cancel phase of a service
    std::string on_connect;  // SQL that every new connection runs first
    std::string name;  // in reports; empty: the pool's, or "postgres"
    std::shared_ptr<poller> sockets;  // shared with other pools; empty: make_pool makes one
};

class connection {
public:
    // conninfo: libpq's keywords or a URI. Throws postgres::error.
    [[nodiscard]] static task<connection> connect(std::string conninfo, connect_options how);
    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();  // close()

    // One statement with its arguments $1, $2, ...; or, without any, several separated by ';', whose last result is returned
    // and which the server runs as one transaction unless they say otherwise. Throws postgres::error, also when the text or an
    // argument has a NUL.
    template <class... Args>
    [[nodiscard]] task<rows> query(std::string sql, Args&&... args) {
        std::vector<parameter> bound;
        bound.reserve(sizeof...(args));
        (bound.push_back(to_parameter(std::forward<Args>(args))), ...);
        return query_parameters(std::move(sql), std::move(bound));
    }
    [[nodiscard]] task<rows> query_parameters(std::string sql, std::vector<parameter> args);

    // Begins a transaction. BEGIN goes to the server together with the next statement, which saves a round trip.
    [[nodiscard]] task<> begin();
    // Commits it. Throws postgres::error when the server rolls back instead, because a statement of the transaction has failed.
    [[nodiscard]] task<> commit();

    [[nodiscard]] bool is_broken() const noexcept;
    // Looks at the socket: true also when the server has closed it since.
    [[nodiscard]] bool has_been_closed() noexcept;
    [[nodiscard]] bool is_in_transaction() const noexcept;
    // Good for the next user: rolls back a transaction that was left open. False: not worth keeping.
    [[nodiscard]] task<bool> make_ready();
    [[nodiscard]] int server_process() const noexcept;  // as in pg_stat_activity.pid
    void close() noexcept;
    [[nodiscard]] ::pg_conn* native_handle() const noexcept;

private:
    explicit connection(std::shared_ptr<detail::session> s) noexcept;

    std::shared_ptr<detail::session> session_;
};

// Runs fn(connection), a task, between BEGIN and COMMIT. When fn fails or is cancelled, or COMMIT fails, the handle is left
// distrusted: its connection is destroyed instead of given back, which rolls back.
template <class Fn>
[[nodiscard]] std::invoke_result_t<Fn&, connection&> with_transaction(pooled<connection>& on, Fn fn) {
    return roost::detail::in_transaction(on, std::move(fn));
}

// options.where is an executor, such as a runtime's; it needs no blocking lane.
[[nodiscard]] pool<connection> make_pool(std::string conninfo, pool_options options, connect_options how = {});

}  // namespace roost::inline ROOST_ABI::postgres
