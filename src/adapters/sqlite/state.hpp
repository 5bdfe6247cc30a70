#pragma once

// The state of a connection while SQLite has a pointer to it, and the text of statements that run on it.
//
// Waiting for another connection's lock: SQLite calls busy() when it would wait. A thread in query_blocking() sleeps there.
// A task must not: it would keep a thread of the blocking lane that the lock's owner may need to commit. So for tasks
// busy() refuses, the statement ends with SQLITE_BUSY, and the task waits in the queue and retries the statement.

// Orders Q1 and Q2: adapters/sqlite/connection.hpp.

#include <roost/adapters/sqlite/connection.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/mutex.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::sqlite {

using namespace seam;

namespace detail {

// Statements that wait for one file's lock, in FIFO order: only the first one tries. Shared by a pool's connections.
class write_line {
public:
    explicit write_line(std::string file)
        : name_(std::move(file)), turn(literal::unchecked(name_.c_str())), released(literal::unchecked(name_.c_str())) {}

private:
    std::string name_;

public:
    mutex turn;  // held by the statement that is first
    auto_reset_event released;  // a connection of the pool has ended a transaction
};

enum class lock_wait : std::uint8_t {
    in_thread,  // sleep until the lock is free or busy_timeout has passed
    first,  // do not sleep; the statement is first in the queue
    behind,  // do not sleep; begin no write while others are queued
};

}  // namespace detail

struct connection::state {
    state(std::string file, std::int64_t busy_milliseconds, std::shared_ptr<detail::write_line> shared)
        : path(std::move(file)), busy_limit(busy_milliseconds), line(std::move(shared)) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() { close(); }

    sqlite3* db = nullptr;
    std::string path;
    bool broken = false;
    std::int64_t busy_limit;  // milliseconds
    std::int64_t busy_waited = 0;
    detail::lock_wait how_to_wait = detail::lock_wait::in_thread;
    bool met_lock = false;  // busy() has refused to sleep
    std::shared_ptr<detail::write_line> line;

    void close() noexcept {
        lock_.lock();
        sqlite3* const closing = std::exchange(db, nullptr);
        lock_.unlock();
        if (closing != nullptr) {
            sqlite3_close_v2(closing);
            line->released.set();
        }
    }
    void interrupt() noexcept {
        ask(true);
        lock_.lock();
        if (db != nullptr) {
            sqlite3_interrupt(db);
        }
        lock_.unlock();
    }
    [[nodiscard]] bool is_interrupted() const noexcept {
        return interrupted_.load(seam::mo::relaxed);  // Q2
    }
    void ask(bool to_interrupt) noexcept {
        interrupted_.store(to_interrupt, seam::mo::relaxed);  // Q1
    }
    [[nodiscard]] bool is_in_transaction() const noexcept { return db != nullptr && sqlite3_get_autocommit(db) == 0; }

    // Called every so many instructions of SQLite's virtual machine.
    static int progress(void* self) noexcept { return static_cast<state*>(self)->is_interrupted() ? 1 : 0; }
    // Called when another connection has the lock. A thread waits in short steps, so that an interrupt is noticed.
    static int busy(void* self, int attempt) noexcept {
        auto& s = *static_cast<state*>(self);
        if (s.how_to_wait != detail::lock_wait::in_thread) {
            s.met_lock = true;
            return 0;
        }
        s.busy_waited = attempt == 0 ? 0 : s.busy_waited;
        if (s.is_interrupted() || s.busy_waited >= s.busy_limit) {
            return 0;
        }
        const int step = static_cast<int>(std::min<std::int64_t>(std::min(attempt + 1, 10), s.busy_limit - s.busy_waited));
        sqlite3_sleep(step);
        s.busy_waited += step;
        return 1;
    }
    // Returns true if the statement would wait for a lock, if waiting were allowed here.
    [[nodiscard]] bool must_wait(int code) const noexcept {
        return met_lock && (code & 0xff) == SQLITE_BUSY && !is_interrupted();
    }
    [[noreturn]] void fail_busy() const {
        throw error(SQLITE_BUSY, "step",
                    "database is locked: another connection has held the lock of '" + path + "' for more than " +
                        format_duration(std::chrono::milliseconds(busy_limit)));
    }
    [[noreturn]] void fail(int code, std::string_view doing) {
        const error e = is_interrupted() ? error(SQLITE_INTERRUPT, doing, "interrupted")
                                         : error(code, doing, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
        broken = broken || e.breaks_connection();
        throw e;
    }

private:
    seam::small_mutex lock_;  // guards db, between interrupt() and close()
    seam::atomic<bool> interrupted_{false};
};

// The statements of one text, run one after the other. When a lock is met, the rest can be retried.
class connection::script {
public:
    // Throws sqlite::error for an invalid text.
    script(std::string_view sql, const std::vector<value>& args);

    // Runs what is left, and waits for locks in the queue. first_try is behind or first.
    [[nodiscard]] task<> run(state& s, detail::lock_wait first_try);
    // Runs what is left, on this thread. Returns false if the next statement has to wait for a lock. Throws sqlite::error.
    [[nodiscard]] bool go_on(state& s, detail::lock_wait how);
    [[nodiscard]] rows take() noexcept { return std::move(last_); }

private:
    [[nodiscard]] auto on_lane(state& s, detail::lock_wait how);
    [[nodiscard]] task<> wait_for_lock(state& s);
    [[nodiscard]] bool run_next(state& s);
    void bind(state& s, sqlite3_stmt* to) const;

    std::string_view left_;
    const std::vector<value>& args_;
    rows last_;
};

}  // namespace roost::inline ROOST_ABI::sqlite
