#include <roost/adapters/postgres/connection.hpp>
#include <roost/task/this_task.hpp>

#include "exchange.hpp"
#include "start_call.hpp"
#include "waits.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace roost::inline ROOST_ABI::postgres {

connection::connection(std::shared_ptr<detail::session> s) noexcept : session_(std::move(s)) {}
connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&& other) noexcept {
    if (this != &other) {
        close();
        session_ = std::move(other.session_);
    }
    return *this;
}
connection::~connection() { close(); }

namespace {

[[noreturn]] void fail_to_connect(std::string_view why) { throw error("08001", why, true); }

void refuse_nul(std::string_view text, const std::string& what) {
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        throw error("22021", what + " has a NUL at byte " + std::to_string(nul) + ", which PostgreSQL cannot hold", false);
    }
}

// libpq ends each text at its first NUL, and would drop the rest silently.
void check_text(const std::string& sql, const std::vector<parameter>& args) {
    refuse_nul(sql, "the SQL text");
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (args[i]) {
            refuse_nul(*args[i], "argument $" + std::to_string(i + 1));
        }
    }
}

// libpq may close its socket in any step and open another one, also under the same number. So each step borrows it anew.
task<> finish_connect(detail::session& s, time_point deadline) {
    using detail::socket_wait;
    PostgresPollingStatusType next = PQstatus(s.conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (next == PGRES_POLLING_FAILED) {
            fail_to_connect(PQerrorMessage(s.conn));
        }
        s.socket = io::descriptor::borrow(PQsocket(s.conn));
        socket_wait ready(s.name, *s.shared, s.socket,
                          next == PGRES_POLLING_READING ? socket_wait::readable : socket_wait::writable, deadline);
        const std::uint32_t events = co_await ready;
        if ((events & socket_wait::refused) != 0) {
            fail_to_connect("the socket cannot be watched: " + ready.why_refused().message());
        }
        if (events == socket_wait::expired) {
            fail_to_connect("connecting took too long");
        }
        s.socket.close();
        next = PQconnectPoll(s.conn);
    }
    s.socket = io::descriptor::borrow(PQsocket(s.conn));
}

}  // namespace

task<connection> connection::connect(std::string conninfo, connect_options how) {
    if (how.name.empty()) {
        how.name = "postgres";
    }
    if (!how.sockets) {
        how.sockets = std::make_shared<poller>(how.name);
    }
    const time_point deadline = deadline_after(now(), how.connect_timeout);
    const auto s = std::make_shared<detail::session>(how.name, how.sockets, how.cancel_budget);
    const auto start = std::make_shared<detail::start_call>(std::move(conninfo));
    detail::side_wait started(s->name, *s->shared, start, deadline);
    const bool has_returned = co_await started;
    if (!has_returned) {
        fail_to_connect(
            "connecting took too long: " + start->name() +
            (started.never_began() ? " has not begun, because earlier calls have not returned" : " has not returned"));
    }
    s->conn = start->take();
    PQsetNoticeProcessor(s->conn, +[](void*, const char*) {}, nullptr);
    co_await finish_connect(*s, deadline);
    PQsetnonblocking(s->conn, 1);
    s->request = std::make_shared<detail::cancel_call>(s->name, s);
    if (!how.on_connect.empty()) {
        const std::vector<parameter> none;
        check_text(how.on_connect, none);
        detail::exchange first(s, how.on_connect, none, deadline);
        co_await first;
        if (first.was_cancelled() && first.has_failed()) {
            co_await checkpoint();
        }
        static_cast<void>(first.take());
    }
    co_return connection(s);
}

task<rows> connection::query_parameters(std::string sql, std::vector<parameter> args) {
    if (!session_) {
        throw error("08003", "the connection is closed", true);
    }
    check_text(sql, args);
    detail::exchange one(session_, sql, args);
    co_await one;
    if (one.was_cancelled() && one.has_failed()) {
        co_await checkpoint();  // a cancelled task ends here
    }
    co_return one.take();
}

task<> connection::begin() {
    if (!session_) {
        throw error("08003", "the connection is closed", true);
    }
    if (is_in_transaction()) {
        throw error("25001", "a transaction has begun already", false);
    }
    session_->beginning = detail::begin_state::owed;
    co_return;
}

task<> connection::commit() {
    if (session_ && session_->beginning == detail::begin_state::owed) {
        session_->beginning = detail::begin_state::none;  // nothing has run in it
        co_return;
    }
    const rows done = co_await query("commit");
    if (done.command() == "ROLLBACK") {
        throw error("25P02", "the transaction was rolled back instead, because a statement in it had failed", false);
    }
}

bool connection::is_broken() const noexcept {
    return !session_ || session_->broken || PQstatus(session_->conn) != CONNECTION_OK;
}

bool connection::has_been_closed() noexcept {
    // An idle connection has to read a notice, or the server's last message and the end of the stream.
    for (int i = 0; i < 3 && !is_broken(); ++i) {
        char first = 0;
        const auto got = ::recv(PQsocket(session_->conn), &first, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            return false;
        }
        if (got <= 0 || PQconsumeInput(session_->conn) == 0) {
            session_->broken = true;
        } else {
            static_cast<void>(PQisBusy(session_->conn));  // lets libpq parse what it has read
        }
    }
    return is_broken();
}

bool connection::is_in_transaction() const noexcept {
    return session_ &&
           (session_->beginning != detail::begin_state::none || PQtransactionStatus(session_->conn) != PQTRANS_IDLE);
}

task<bool> connection::make_ready() {
    if (has_been_closed()) {
        co_return false;
    }
    session_->beginning = detail::begin_state::none;
    if (is_in_transaction()) {
        static_cast<void>(co_await query("rollback"));
    }
    co_return !is_broken() && !is_in_transaction();
}

int connection::server_process() const noexcept { return session_ ? PQbackendPID(session_->conn) : 0; }

void connection::close() noexcept {
    if (session_) {
        session_->close();
        session_.reset();
    }
}

::pg_conn* connection::native_handle() const noexcept { return session_ ? session_->conn : nullptr; }

namespace {

class connector {
public:
    connector(std::string conninfo, connect_options how) : conninfo_(std::move(conninfo)), how_(std::move(how)) {}
    [[nodiscard]] task<connection> operator()() const { return connection::connect(conninfo_, how_); }

private:
    std::string conninfo_;
    connect_options how_;
};
class closer {
public:
    closer() noexcept = default;
    void operator()(connection& c) const noexcept { c.close(); }
};
class readiness {
public:
    readiness() noexcept = default;
    [[nodiscard]] bool operator()(connection& c) const noexcept { return !c.has_been_closed() && !c.is_in_transaction(); }
};

}  // namespace

pool<connection> make_pool(std::string conninfo, pool_options options, connect_options how) {
    if (how.name.empty()) {
        how.name = options.name;
    }
    if (!how.sockets) {
        how.sockets = std::make_shared<poller>(how.name);
    }
    return pool<connection>(std::move(options), connector(std::move(conninfo), std::move(how)), closer(), readiness());
}

}  // namespace roost::inline ROOST_ABI::postgres
