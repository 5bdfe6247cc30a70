#include <roost/adapters/sqlite/connection.hpp>
#include <roost/task/checkpoint.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <optional>

namespace roost::inline ROOST_ABI::sqlite {

struct connection::state {
    sqlite3* db = nullptr;
    atomic<bool> interrupted{false};
    bool broken = false;
    std::int64_t busy_limit = 0;  // milliseconds
    std::int64_t busy_waited = 0;

    state() noexcept = default;
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() { close(); }
    void close() noexcept {
        if (db != nullptr) {
            sqlite3_close_v2(std::exchange(db, nullptr));
        }
    }
    [[nodiscard]] bool is_interrupted() const noexcept {
        return interrupted.load(mo::relaxed);  // Q2
    }
    void ask(bool to_interrupt) noexcept {
        interrupted.store(to_interrupt, mo::relaxed);  // Q1
    }

    // Every so many instructions of SQLite's machine.
    static int progress(void* self) noexcept { return static_cast<state*>(self)->is_interrupted() ? 1 : 0; }
    // Another connection has the lock: waits in short steps, so that an interrupt is seen.
    static int busy(void* self, int attempt) noexcept {
        auto& s = *static_cast<state*>(self);
        s.busy_waited = attempt == 0 ? 0 : s.busy_waited;
        if (s.is_interrupted() || s.busy_waited >= s.busy_limit) {
            return 0;
        }
        const int step = static_cast<int>(std::min<std::int64_t>(std::min(attempt + 1, 10), s.busy_limit - s.busy_waited));
        sqlite3_sleep(step);
        s.busy_waited += step;
        return 1;
    }
    [[noreturn]] void fail(int code, std::string_view doing) {
        const error e = is_interrupted() ? error(SQLITE_INTERRUPT, doing, "interrupted")
                                         : error(code, doing, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
        broken = broken || e.breaks_connection();
        throw e;
    }
};

namespace {

constexpr int instructions_between_looks = 1000;

class statement {
public:
    explicit statement(sqlite3_stmt* s) noexcept : s_(s) {}
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { sqlite3_finalize(s_); }
    [[nodiscard]] sqlite3_stmt* get() const noexcept { return s_; }

private:
    sqlite3_stmt* s_;
};

// The arguments outlive the statement, so nothing is copied.
int bind(sqlite3_stmt* to, int index, const value& v) noexcept {
    switch (v.index()) {
        case 1: return sqlite3_bind_int64(to, index, std::get<std::int64_t>(v));
        case 2: return sqlite3_bind_double(to, index, std::get<double>(v));
        case 3: {
            const auto& text = std::get<std::string>(v);
            return sqlite3_bind_text64(to, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
        }
        case 4: {
            const auto& bytes = std::get<blob>(v);
            return bytes.empty() ? sqlite3_bind_zeroblob(to, index, 0)
                                 : sqlite3_bind_blob64(to, index, bytes.data(), bytes.size(), SQLITE_STATIC);
        }
        default: return sqlite3_bind_null(to, index);
    }
}

// Empty: SQLite had no memory, which it says with a null pointer; text that is not UTF-8 is converted when it is asked for.
std::optional<value> column(sqlite3_stmt* from, int index) {
    switch (sqlite3_column_type(from, index)) {
        case SQLITE_INTEGER: return value(std::in_place_type<std::int64_t>, sqlite3_column_int64(from, index));
        case SQLITE_FLOAT: return value(std::in_place_type<double>, sqlite3_column_double(from, index));
        case SQLITE_TEXT: {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(from, index));
            if (text == nullptr) {
                return std::nullopt;
            }
            return value(std::in_place_type<std::string>, text, static_cast<std::size_t>(sqlite3_column_bytes(from, index)));
        }
        case SQLITE_BLOB: {
            const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(from, index));
            if (bytes == nullptr && sqlite3_errcode(sqlite3_db_handle(from)) == SQLITE_NOMEM) {
                return std::nullopt;  // an empty one has no address either
            }
            return value(std::in_place_type<blob>, bytes, bytes + sqlite3_column_bytes(from, index));
        }
        default: return value();
    }
}

bool has_more(std::string_view tail) noexcept { return tail.find_first_not_of(" \t\r\n;") != std::string_view::npos; }

}  // namespace

connection::connection(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&&) noexcept = default;
connection::~connection() = default;

connection connection::open(const std::string& path, const open_options& how) {
    auto s = std::make_unique<state>();
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (how.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (how.create ? SQLITE_OPEN_CREATE : 0));
    if (const int code = sqlite3_open_v2(path.c_str(), &s->db, flags, nullptr); code != SQLITE_OK) {
        s->fail(code, "open " + path);
    }
    s->busy_limit = how.busy_timeout.count();
    sqlite3_busy_handler(s->db, &state::busy, s.get());
    sqlite3_progress_handler(s->db, instructions_between_looks, &state::progress, s.get());
    connection made(std::move(s));
    if (how.write_ahead_log && !how.read_only && path != ":memory:") {
        made.query_blocking("pragma journal_mode = wal; pragma synchronous = normal");
    } else {
        made.query_blocking("select count(*) from sqlite_schema");  // opening is lazy: a file that is no database fails here
    }
    if (!how.on_open.empty()) {
        made.query_blocking(how.on_open);
    }
    return made;
}

task<rows> connection::query_values(std::string sql, std::vector<value> args) {
    state_->ask(false);
    std::exception_ptr failure;
    try {
        const auto stop = interrupted_by([this]() noexcept { interrupt(); });
        co_return co_await blocking(
            stop,
            +[](connection* self, const std::string* text, const std::vector<value>* bound) {
                return self->run(*text, *bound);
            },
            this, &sql, &args);
    } catch (const error& e) {
        if (!e.is_interrupt()) {
            throw;
        }
        failure = std::current_exception();
    }
    co_await checkpoint();  // a cancelled task ends here; an interrupt by anybody else is an error
    std::rethrow_exception(failure);
}

rows connection::run(std::string_view sql, const std::vector<value>& args) {
    state& s = *state_;
    rows result;
    do {
        if (s.is_interrupted()) {
            s.fail(SQLITE_INTERRUPT, "prepare");
        }
        sqlite3_stmt* prepared = nullptr;
        const char* tail = nullptr;
        int code = sqlite3_prepare_v2(s.db, sql.data(), static_cast<int>(sql.size()), &prepared, &tail);
        const statement owner(prepared);
        if (code != SQLITE_OK) {
            s.fail(code, "prepare");
        }
        sql.remove_prefix(static_cast<std::size_t>(tail - sql.data()));
        if (prepared == nullptr) {
            continue;  // a comment or nothing
        }
        if (static_cast<std::size_t>(sqlite3_bind_parameter_count(prepared)) != args.size() ||
            (!args.empty() && has_more(sql))) {
            throw error(SQLITE_RANGE, "bind", "as many arguments as one statement has parameters are needed");
        }
        for (std::size_t i = 0; i < args.size(); ++i) {
            code = bind(prepared, static_cast<int>(i) + 1, args[i]);
            if (code != SQLITE_OK) {
                s.fail(code, "bind");
            }
        }
        result = rows();
        const int width = sqlite3_column_count(prepared);
        for (int i = 0; i < width; ++i) {
            const char* name = sqlite3_column_name(prepared, i);
            if (name == nullptr) {
                s.fail(SQLITE_NOMEM, "column");
            }
            result.columns_.emplace_back(name);
        }
        const auto before = sqlite3_total_changes64(s.db);
        while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
            for (int i = 0; i < width; ++i) {
                std::optional<value> cell = column(prepared, i);
                if (!cell) {
                    s.fail(SQLITE_NOMEM, "column");
                }
                result.cells_.push_back(*std::move(cell));
            }
        }
        if (code != SQLITE_DONE) {
            s.fail(code, "step");
        }
        result.changes_ = sqlite3_total_changes64(s.db) - before;
    } while (has_more(sql));
    result.last_insert_id_ = sqlite3_last_insert_rowid(s.db);
    return result;
}

void connection::interrupt() noexcept {
    state_->ask(true);
    sqlite3_interrupt(state_->db);
}

bool connection::is_broken() const noexcept { return state_ == nullptr || state_->broken; }
bool connection::is_in_transaction() const noexcept { return sqlite3_get_autocommit(state_->db) == 0; }

bool connection::make_ready() noexcept {
    state_->ask(false);
    if (is_in_transaction()) {
        sqlite3_exec(state_->db, "rollback", nullptr, nullptr, nullptr);
    }
    return !is_broken() && !is_in_transaction();
}

void connection::close_blocking() noexcept { state_->close(); }
::sqlite3* connection::native_handle() const noexcept { return state_->db; }

pool<connection> make_pool(std::string path, pool_options options, open_options how) {
    return pool<connection>(std::move(options), detail::opener(std::move(path), std::move(how)), detail::closer(),
                            detail::readiness());
}

}  // namespace roost::inline ROOST_ABI::sqlite
