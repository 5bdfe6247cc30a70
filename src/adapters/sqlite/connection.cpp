#include "state.hpp"

#include <roost/task/this_task.hpp>

namespace roost::inline ROOST_ABI::sqlite {

namespace detail {

// Called by the pool. Opening and closing run on the blocking lane of its executor, the check on the acquiring thread.
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
        return !c.is_broken() && c.make_ready();  // also clears a cancel that came too late for its statement
    }
};

}  // namespace detail

namespace {

constexpr int instructions_between_looks = 1000;

// The SQL that a new connection runs before its user's own.
const char* first_statements(const std::string& path, const open_options& how) noexcept {
    return how.write_ahead_log && !how.read_only && path != ":memory:"
               ? "pragma journal_mode = wal; pragma synchronous = normal"
               : "select count(*) from sqlite_schema";  // opening is lazy: a file that is no database fails here
}

}  // namespace

connection::connection(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&&) noexcept = default;
connection::~connection() = default;

connection connection::open_file(const std::string& path, const open_options& how,
                                 std::shared_ptr<detail::write_line> line) {
    if (path.find('\0') != std::string::npos) {
        throw error(SQLITE_CANTOPEN, "open", "the path has a NUL at byte " + std::to_string(path.find('\0')));
    }
    if (line == nullptr) {
        line = std::make_shared<detail::write_line>(path);
    }
    auto s = std::make_unique<state>(path, how.busy_timeout.count(), std::move(line));
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (how.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (how.create ? SQLITE_OPEN_CREATE : 0));
    if (const int code = sqlite3_open_v2(path.c_str(), &s->db, flags, nullptr); code != SQLITE_OK) {
        s->fail(code, "open " + path);
    }
    sqlite3_busy_handler(s->db, &state::busy, s.get());
    sqlite3_progress_handler(s->db, instructions_between_looks, &state::progress, s.get());
    return connection(std::move(s));
}

connection connection::open(const std::string& path, const open_options& how) {
    connection made = open_file(path, how, nullptr);
    made.query_blocking(first_statements(path, how));
    made.query_blocking(how.on_open);
    return made;
}

task<connection> detail::opener::open(const opener* how) {
    connection made = co_await blocking(
        +[](const opener* self) { return connection::open_file(self->path_, self->how_, self->line_); }, how);
    // Does not queue behind waiting writers: setting up a connection usually takes no lock.
    const std::vector<value> none;
    connection::script set_up(first_statements(how->path_, how->how_), none);
    co_await set_up.run(*made.state_, lock_wait::first);
    connection::script own(how->how_.on_open, none);
    co_await own.run(*made.state_, lock_wait::first);
    co_return made;
}

connection::state& connection::usable() const {
    if (state_ == nullptr || state_->db == nullptr) {
        throw error(SQLITE_MISUSE, "use", "the connection is closed");
    }
    return *state_;
}

task<rows> connection::query_values(std::string sql, std::vector<value> args) {
    state& s = usable();
    s.ask(false);
    script text(sql, args);
    std::exception_ptr failure;
    try {
        co_await text.run(s, detail::lock_wait::behind);
        co_return text.take();
    } catch (const error& e) {
        if (!e.is_interrupt()) {
            throw;
        }
        failure = std::current_exception();
    }
    co_await checkpoint();  // a cancelled task ends here; any other interrupt is an error
    std::rethrow_exception(failure);
}

task<> connection::begin() { static_cast<void>(co_await query("begin immediate")); }
task<> connection::commit() { static_cast<void>(co_await query("commit")); }

rows connection::run(std::string_view sql, const std::vector<value>& args) {
    state& s = usable();
    script text(sql, args);
    static_cast<void>(text.go_on(s, detail::lock_wait::in_thread));
    return text.take();
}

void connection::interrupt() noexcept {
    if (state_ != nullptr) {
        state_->interrupt();
    }
}

bool connection::is_broken() const noexcept { return state_ == nullptr || state_->db == nullptr || state_->broken; }
bool connection::is_in_transaction() const noexcept { return state_ != nullptr && state_->is_in_transaction(); }

bool connection::make_ready() noexcept {
    if (is_broken()) {
        return false;
    }
    state_->ask(false);
    if (is_in_transaction()) {
        sqlite3_exec(state_->db, "rollback", nullptr, nullptr, nullptr);
        state_->line->released.set();
    }
    return !is_in_transaction();
}

void connection::close_blocking() noexcept {
    if (state_ != nullptr) {
        state_->close();
    }
}
::sqlite3* connection::native_handle() const noexcept { return state_ == nullptr ? nullptr : state_->db; }

detail::opener::opener(std::string path, open_options how)
    : path_(std::move(path)), how_(std::move(how)), line_(std::make_shared<write_line>(path_)) {}

pool<connection> make_pool(std::string path, pool_options options, open_options how) {
    return pool<connection>(std::move(options), detail::opener(std::move(path), std::move(how)), detail::closer(),
                            detail::readiness());
}

}  // namespace roost::inline ROOST_ABI::sqlite
