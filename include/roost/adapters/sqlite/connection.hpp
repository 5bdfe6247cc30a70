#pragma once

// SQLite behind a pool.
//
//   pool<sqlite::connection> db = sqlite::make_pool("jobs.db", options);     // options.where: a runtime's executor
//   auto c = (co_await db.acquire("report")).value();
//   sqlite::rows r = co_await c->query("select id, text from job where state = ?", "ready");
//
// Statements run on the blocking lane of the task's runtime. Cancelling the task interrupts SQLite, and the task ends
// cancelled. The interrupt is sqlite3_interrupt and a flag that is checked before and during a statement. So an interrupt
// that arrives before the statement begins is not lost. If a statement completes before the interrupt, its changes stand.
// SQLite rolls an interrupted statement back, so nothing is partly done.
//
// A statement that meets another connection's lock waits at most `busy_timeout`. It suspends and keeps no thread of the
// lane, so the owner of the lock can always commit. The writers of one pool wait in FIFO order.
//
// SQL text with a NUL is refused. A statement on a closed connection throws sqlite::error; the pool replaces the
// connection.
//
// A connection has one user at a time. A connection that is returned inside a transaction would keep its locks. Use
// pool.with(fn) or with_transaction(): they roll back or destroy it when fn fails or is cancelled.
//
// id  operation               order    pairs  carries                                                              fails in
// Q1  interrupt flag: store   relaxed  -      nothing: only the request; the lane hands everything else over              (floor)
// Q2  interrupt flag: load    relaxed  -      nothing                                                               (floor)

#include <roost/adapters/detail/forward.hpp>
#include <roost/adapters/detail/transaction.hpp>
#include <roost/adapters/sqlite/values.hpp>
#include <roost/base/atomic.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/task.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct sqlite3;

namespace roost::inline ROOST_ABI::sqlite {

struct open_options {
    open_options() noexcept = default;
    bool read_only = false;
    bool create = true;  // create the file if it does not exist
    std::chrono::milliseconds busy_timeout{5000};  // how long a statement waits for another connection's lock
    bool write_ahead_log = true;  // readers do not block the writer; ignored for ":memory:" and read_only
    std::string on_open;  // SQL that every new connection runs first, such as pragmas
};

class connection {
public:
    // Opens a database. Blocks. Throws sqlite::error. ":memory:" is a private database of this connection.
    [[nodiscard]] static connection open(const std::string& path, const open_options& how = {});
    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();  // calls close_blocking()

    // Runs one statement with its arguments on the blocking lane. Without arguments, sql may have several statements
    // separated by ';'; the rows of the last one are returned. Throws sqlite::error. Ends cancelled if the task is
    // cancelled.
    template <class... Args>
    [[nodiscard]] task<rows> query(std::string sql, Args&&... args) {
        std::vector<value> bound;
        bound.reserve(sizeof...(args));
        (bound.push_back(to_value(std::forward<Args>(args))), ...);
        return query_values(std::move(sql), std::move(bound));
    }
    [[nodiscard]] task<rows> query_values(std::string sql, std::vector<value> args);

    // As query(), on the calling thread. Blocks.
    template <class... Args>
    rows query_blocking(std::string_view sql, Args&&... args) {
        std::vector<value> bound;
        bound.reserve(sizeof...(args));
        (bound.push_back(to_value(std::forward<Args>(args))), ...);
        return run(sql, bound);
    }

    // BEGIN IMMEDIATE, which waits until this connection may write, and COMMIT. with_transaction() calls both.
    [[nodiscard]] task<> begin();
    [[nodiscard]] task<> commit();

    // Ends the running statement soon, with an error that is_interrupt(). Does nothing to a closed connection. Thread-safe
    // while the connection lives.
    void interrupt() noexcept;
    // Returns true if the pool should not keep the connection. Set by errors that breaks_connection().
    [[nodiscard]] bool is_broken() const noexcept;
    [[nodiscard]] bool is_in_transaction() const noexcept;
    // Clears an interrupt and ends a transaction that was left open. Returns true if the connection is usable for the next
    // user. Ending a transaction may block on I/O; without one only two flags are checked.
    [[nodiscard]] bool make_ready() noexcept;
    void close_blocking() noexcept;
    [[nodiscard]] ::sqlite3* native_handle() const noexcept;

private:
    friend class detail::opener;
    struct state;  // at a fixed address while SQLite has a pointer to it
    class script;
    explicit connection(std::unique_ptr<state> s) noexcept;
    [[nodiscard]] static connection open_file(const std::string& path, const open_options& how,
                                              std::shared_ptr<detail::write_line> line);
    [[nodiscard]] state& usable() const;
    rows run(std::string_view sql, const std::vector<value>& args);

    std::unique_ptr<state> state_;
};

// Runs fn(connection), a task, between BEGIN IMMEDIATE and COMMIT. If fn fails or is cancelled, or COMMIT fails, the handle
// is distrusted: the pool destroys its connection, which rolls back.
template <class Fn>
[[nodiscard]] std::invoke_result_t<Fn&, connection&> with_transaction(pooled<connection>& on, Fn fn) {
    return roost::detail::in_transaction(on, std::move(fn));
}

// Creates a pool of connections to one file. Requires an executor with a blocking lane in options.where, such as a
// runtime's. An error that breaks a connection is detected before the pool hands it out again.
[[nodiscard]] pool<connection> make_pool(std::string path, pool_options options, open_options how = {});

}  // namespace roost::inline ROOST_ABI::sqlite
