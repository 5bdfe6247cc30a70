#pragma once

// PostgreSQL behind a pool: libpq without blocking, on the driver of the executor.
//
//   pool<postgres::connection> db = postgres::make_pool("host=... dbname=...", options);   // options.where: an executor
//   auto c = (co_await db.acquire("report")).value();
//   postgres::rows r = co_await c->query("select id, text from job where state = $1", "ready");
//
// A statement is one await: it sends and receives on the task's executor whenever the socket is ready.
//
// Cancelling the task sends a cancel request. The task then waits at most `cancel_budget` until the server has answered
// both. The connection is then clean and stays in the pool, and the task ends cancelled. If the server does not answer in
// time, the connection is closed and the task still ends. If the statement completed before its cancel, its result is
// returned, and the next checkpoint ends the task.
//
// No call waits without a limit. Resolving a name and sending a cancel request (PQcancel) cannot be interrupted. Each kind
// has up to four side threads, which are not the runtime's. A call that exceeds its limit is abandoned: the task continues,
// and the thread stays until the call returns. Calls that still run when the last connection ends are reported by name.
//
// On an executor without a driver or timers, one more thread waits for the sockets (poller.hpp).
//
// A connection that the server or the network has closed is_broken(), and the pool replaces it. The next statement detects
// that, or the pool does before it hands the connection out. A connection has one user at a time.

#include <roost/adapters/detail/forward.hpp>
#include <roost/adapters/detail/transaction.hpp>
#include <roost/adapters/postgres/poller.hpp>
#include <roost/adapters/postgres/values.hpp>
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

struct connect_options {
    connect_options() noexcept = default;
    duration connect_timeout = std::chrono::seconds(10);  // includes name resolution and on_connect
    duration cancel_budget = std::chrono::seconds(2);  // keep it shorter than the cancel phase of a service
    std::string on_connect;  // SQL that every new connection runs first
    std::string name;  // in reports; empty: the pool's name, or "postgres"
    std::shared_ptr<poller> sockets;  // the threads of poller.hpp, shared with other pools; empty: make_pool creates them
};

class connection {
public:
    // Connects to a server. `conninfo` is libpq's keywords or a URI. Throws postgres::error.
    [[nodiscard]] static task<connection> connect(std::string conninfo, connect_options how);
    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();  // calls close()

    // Runs one statement with its arguments $1, $2, ... Without arguments, sql may have several statements separated by
    // ';'. The server runs them as one transaction unless they contain transaction commands, and the last result is
    // returned. Throws postgres::error, also if the text or an argument contains a NUL.
    template <class... Args>
    [[nodiscard]] task<rows> query(std::string sql, Args&&... args) {
        std::vector<parameter> bound;
        bound.reserve(sizeof...(args));
        (bound.push_back(to_parameter(std::forward<Args>(args))), ...);
        return query_parameters(std::move(sql), std::move(bound));
    }
    [[nodiscard]] task<rows> query_parameters(std::string sql, std::vector<parameter> args);

    // Begins a transaction. BEGIN is sent to the server together with the next statement, which saves a round trip.
    [[nodiscard]] task<> begin();
    // Commits the transaction. Throws postgres::error if the server rolls back because a statement of the transaction has
    // failed.
    [[nodiscard]] task<> commit();

    [[nodiscard]] bool is_broken() const noexcept;
    // Polls the socket. Returns true if the connection is broken or the server has closed it.
    [[nodiscard]] bool has_been_closed() noexcept;
    [[nodiscard]] bool is_in_transaction() const noexcept;
    // Prepares the connection for the next user: rolls back a transaction that was left open. Returns false if it must be
    // discarded.
    [[nodiscard]] task<bool> make_ready();
    [[nodiscard]] int server_process() const noexcept;  // as in pg_stat_activity.pid
    void close() noexcept;
    [[nodiscard]] ::pg_conn* native_handle() const noexcept;

private:
    explicit connection(std::shared_ptr<detail::session> s) noexcept;

    std::shared_ptr<detail::session> session_;
};

// Runs fn(connection), a task, between BEGIN and COMMIT. If fn fails or is cancelled, or COMMIT fails, the handle is
// distrusted: the pool destroys its connection, which rolls back.
template <class Fn>
[[nodiscard]] std::invoke_result_t<Fn&, connection&> with_transaction(pooled<connection>& on, Fn fn) {
    return roost::detail::in_transaction(on, std::move(fn));
}

// Creates a pool of connections. Requires an executor in options.where, such as a runtime's. It needs no blocking lane.
[[nodiscard]] pool<connection> make_pool(std::string conninfo, pool_options options, connect_options how = {});

}  // namespace roost::inline ROOST_ABI::postgres
