#include "state.hpp"

#include <optional>

namespace roost::inline ROOST_ABI::sqlite {

namespace {

class statement {
public:
    explicit statement(sqlite3_stmt* s) noexcept : s_(s) {}
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { sqlite3_finalize(s_); }

private:
    sqlite3_stmt* s_;
};

// The arguments outlive the statement, so nothing is copied.
int bind_value(sqlite3_stmt* to, int index, const value& v) noexcept {
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

// Returns an empty value without memory: SQLite returns a null pointer then. Text that is not UTF-8 is converted on access.
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
                return std::nullopt;  // an empty blob has a null pointer as well
            }
            return value(std::in_place_type<blob>, bytes, bytes + sqlite3_column_bytes(from, index));
        }
        default: return value();
    }
}

// Skips white space, empty statements and comments, as SQLite's tokenizer does. Returns the text from the next statement
// on.
std::string_view skip_blank(std::string_view sql) noexcept {
    for (;;) {
        const std::size_t first = sql.find_first_not_of(" \t\n\f\r;");
        if (first == std::string_view::npos) {
            return {};
        }
        sql.remove_prefix(first);
        const std::string_view closes = sql.starts_with("--") ? "\n" : sql.starts_with("/*") ? "*/" : "";
        if (closes.empty()) {
            return sql;
        }
        const std::size_t end = sql.find(closes, 2);
        if (end == std::string_view::npos) {
            return {};
        }
        sql.remove_prefix(end + closes.size());
    }
}

}  // namespace

connection::script::script(std::string_view sql, const std::vector<value>& args) : left_(skip_blank(sql)), args_(args) {
    constexpr std::size_t longest = 1'000'000'000;  // SQLite's lengths are int, and limited to this
    if (const std::size_t nul = sql.find('\0'); nul != std::string_view::npos) {
        throw error(SQLITE_ERROR, "prepare", "the SQL text has a NUL at byte " + std::to_string(nul));
    }
    if (sql.size() > longest) {
        throw error(SQLITE_TOOBIG, "prepare", "the SQL text is longer than 1000000000 bytes");
    }
    if (left_.empty() && !args.empty()) {
        throw error(SQLITE_RANGE, "bind", "there are arguments, but no statement");
    }
}

bool connection::script::go_on(state& s, detail::lock_wait how) {
    s.how_to_wait = how;
    while (!left_.empty()) {
        if (!run_next(s)) {
            return false;
        }
    }
    last_.last_insert_id_ = sqlite3_last_insert_rowid(s.db);
    return true;
}

void connection::script::bind(state& s, sqlite3_stmt* to) const {
    if (static_cast<std::size_t>(sqlite3_bind_parameter_count(to)) != args_.size()) {
        throw error(SQLITE_RANGE, "bind",
                    "the statement has " + std::to_string(sqlite3_bind_parameter_count(to)) + " parameters, but " +
                        std::to_string(args_.size()) + " arguments were passed");
    }
    for (std::size_t i = 0; i < args_.size(); ++i) {
        if (const int code = bind_value(to, static_cast<int>(i) + 1, args_[i]); code != SQLITE_OK) {
            s.fail(code, "bind");
        }
    }
}

// Returns false if the statement has to wait for a lock; it has had no effect then.
bool connection::script::run_next(state& s) {
    if (s.is_interrupted()) {
        s.fail(SQLITE_INTERRUPT, "prepare");
    }
    s.met_lock = false;
    sqlite3_stmt* prepared = nullptr;
    const char* tail = nullptr;
    int code = sqlite3_prepare_v2(s.db, left_.data(), static_cast<int>(left_.size()), &prepared, &tail);
    const statement owner(prepared);
    if (code != SQLITE_OK) {
        if (s.must_wait(code)) {
            return false;
        }
        s.fail(code, "prepare");
    }
    const std::string_view behind = skip_blank(left_.substr(static_cast<std::size_t>(tail - left_.data())));
    if (prepared == nullptr) {
        left_ = behind.size() < left_.size() ? behind : std::string_view();
        return true;
    }
    if (!args_.empty() && !behind.empty()) {
        throw error(SQLITE_RANGE, "bind", "with arguments the text may hold one statement only");
    }
    bind(s, prepared);
    const bool writes = sqlite3_stmt_readonly(prepared) == 0;
    if (s.how_to_wait == detail::lock_wait::behind && writes && !s.is_in_transaction() && s.line->turn.is_locked()) {
        return false;  // other statements are queued before this one
    }
    rows result;
    const int width = sqlite3_column_count(prepared);
    for (int i = 0; i < width; ++i) {
        const char* name = sqlite3_column_name(prepared, i);
        if (name == nullptr) {
            s.fail(SQLITE_NOMEM, "column");
        }
        result.columns_.emplace_back(name);
    }
    const bool was_in_transaction = s.is_in_transaction();
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
        if (result.cells_.empty() && s.must_wait(code)) {
            return false;
        }
        s.fail(code, "step");
    }
    result.changes_ = sqlite3_total_changes64(s.db) - before;
    last_ = std::move(result);
    left_ = behind;
    if ((writes || was_in_transaction) && !s.is_in_transaction()) {
        s.line->released.set();
    }
    return true;
}

}  // namespace roost::inline ROOST_ABI::sqlite
