#pragma once

// SQLite behind a pool.
//
//   pool<sqlite::connection> db = sqlite::make_pool("jobs.db", options);     // options.where: a runtime's executor
//   auto c = (co_await db.acquire("report")).value();
//   sqlite::rows r = co_await c->query("select id, text from job where state = ?", "ready");
//
// Statements run on the blocking lane of the task's runtime. Cancelling the task makes SQLite give up soon
// (sqlite3_interrupt, and a flag that is looked at before and during a statement, so an interrupt that comes before the
// statement has begun is not lost); the task then ends cancelled. A statement that wins the race has happened, as the claim
// decides everywhere in Roost; nothing is half done, because SQLite rolls an interrupted statement back.
//
// A statement that meets another connection's lock waits at most `busy_timeout`, as a coroutine: it keeps no thread of the
// lane, so the owner of the lock always finds one to commit on. The writers of one pool wait in line, first in, first out.
//
// SQL text with a NUL is refused. A statement on a closed connection throws sqlite::error; the pool replaces the connection.
//
// One user at a time, which is what a pool is for. A connection that is given back inside a transaction would keep its locks:
// use pool.with(fn) or with_transaction(), which roll back or destroy it when fn fails or is cancelled.
//
// id  operation               order    pairs  carries                                                              fails in
// Q1  interrupt flag: store   relaxed  -      nothing: only the request; the lane hands everything else over              (floor)
// Q2  interrupt flag: load    relaxed  -      nothing                                                               (floor)

#include <roost/adapters/sqlite/values.hpp>
#include <roost/base/atomic.hpp>
#include <roost/pool/detail/transaction.hpp>
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

namespace detail {
class opener;
class write_line;
}  // namespace detail

struct open_options {
    open_options() noexcept = default;
    bool read_only = false;
    bool create = true;  // the file, when it is not there
    std::chrono::milliseconds busy_timeout{5000};  // how long a statement waits for another connection's lock
    bool write_ahead_log = true;  // readers do not block the writer; ignored for ":memory:" and read_only
    std::string on_open;  // SQL that every new connection runs first: pragmas
};

class connection {
public:
    // Blocks. Throws sqlite::error. ":memory:" is a database of this connection alone.
    [[nodiscard]] static connection open(const std::string& path, const open_options& how = {});
    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();  // close_blocking()

    // One statement with its arguments, on the blocking lane. Or several separated by ';' when there are no arguments: the
    // rows are those of the last. Throws sqlite::error; ends cancelled when the task is.
    template <class... Args>
    [[nodiscard]] task<rows> query(std::string sql, Args&&... args) {
        std::vector<value> bound;
        bound.reserve(sizeof...(args));
        (bound.push_back(to_value(std::forward<Args>(args))), ...);
        return query_values(std::move(sql), std::move(bound));
    }
    [[nodiscard]] task<rows> query_values(std::string sql, std::vector<value> args);

    // The same for threads that may block.
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

    // From any thread while the connection lives: what runs now ends soon with an error that is_interrupt(). Does nothing to a
    // closed connection.
    void interrupt() noexcept;
    // True: the pool should not keep it. Set by errors that breaks_connection().
    [[nodiscard]] bool is_broken() const noexcept;
    [[nodiscard]] bool is_in_transaction() const noexcept;
    // Forgets an interrupt, ends a transaction that was left open, and says whether the connection is good for the next user.
    // Ending a transaction may block on I/O; without one this is a look at two flags.
    [[nodiscard]] bool make_ready() noexcept;
    void close_blocking() noexcept;
    [[nodiscard]] ::sqlite3* native_handle() const noexcept;

private:
    friend class detail::opener;
    struct state;  // at one address while SQLite knows it
    class script;
    explicit connection(std::unique_ptr<state> s) noexcept;
    [[nodiscard]] static connection open_file(const std::string& path, const open_options& how,
                                              std::shared_ptr<detail::write_line> line);
    [[nodiscard]] state& usable() const;
    rows run(std::string_view sql, const std::vector<value>& args);

    std::unique_ptr<state> state_;
};

// Runs fn(connection), a task, between BEGIN IMMEDIATE and COMMIT. When fn fails or is cancelled, or COMMIT fails, the handle
// is left distrusted: its connection is destroyed instead of given back, which rolls back.
template <class Fn>
[[nodiscard]] std::invoke_result_t<Fn&, connection&> with_transaction(pooled<connection>& on, Fn fn) {
    return roost::detail::in_transaction(on, std::move(fn));
}

namespace detail {

// What the pool calls: to open and to close, on the blocking lane of its executor; to check, on the acquiring thread.
class opener {
public:
    opener(std::string path, open_options how);
    [[nodiscard]] task<connection> operator()() const { return open(this); }

private:
    [[nodiscard]] static task<connection> open(const opener* how);

    std::string path_;
    open_options how_;
    std::shared_ptr<write_line> line_;
};
class closer {
public:
    closer() noexcept = default;
    [[nodiscard]] auto operator()(connection& c) const {
        return blocking(+[](connection* gone) { gone->close_blocking(); }, &c);
    }
};
class readiness {
public:
    readiness() noexcept = default;
    [[nodiscard]] bool operator()(connection& c) const noexcept {
        return !c.is_broken() && c.make_ready();  // also forgets a cancel that came too late for its statement
    }
};

}  // namespace detail

// A pool of connections to one file. options.where has to be an executor with a blocking lane, such as a runtime's. An
// error that breaks a connection is noticed when the pool would give it out again.
[[nodiscard]] pool<connection> make_pool(std::string path, pool_options options, open_options how = {});

}  // namespace roost::inline ROOST_ABI::sqlite
