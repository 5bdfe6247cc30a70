#include <roost/adapters/postgres/connection.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/task/checkpoint.hpp>

#include "session.hpp"

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

task<connection> connection::connect(std::string conninfo, connect_options how) {
    if (!how.sockets) {
        how.sockets = std::make_shared<poller>("postgres");
    }
    auto s = std::make_shared<detail::session>(how.sockets, how.cancel_budget);
    const time_point deadline = deadline_after(now(), how.connect_timeout);
    // Names are resolved here, which may block.
    co_await blocking(
        +[](detail::session* to, const std::string* from) { to->conn = PQconnectStart(from->c_str()); }, s.get(), &conninfo);
    if (s->conn == nullptr) {
        throw std::bad_alloc();
    }
    PQsetNoticeProcessor(s->conn, +[](void*, const char*) {}, nullptr);
    PostgresPollingStatusType next = PQstatus(s->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (next == PGRES_POLLING_FAILED) {
            throw error("08001", PQerrorMessage(s->conn), true);
        }
        detail::socket_wait ready(*s->sockets, PQsocket(s->conn),
                                  next == PGRES_POLLING_READING ? poller::readable : poller::writable, deadline);
        const std::uint32_t events = co_await ready;
        if ((events & poller::expired) != 0 || events == poller::none) {
            throw error("08001", events == poller::none ? "the socket cannot be watched" : "connecting took too long", true);
        }
        next = PQconnectPoll(s->conn);
    }
    PQsetnonblocking(s->conn, 1);
    s->cancel = PQgetCancel(s->conn);
    connection made(std::move(s));
    if (!how.on_connect.empty()) {
        static_cast<void>(co_await made.query(how.on_connect));
    }
    co_return made;
}

task<rows> connection::query_parameters(std::string sql, std::vector<parameter> args) {
    detail::exchange one(session_, sql, args);
    co_await one;
    if (one.was_cancelled() && one.has_failed()) {
        co_await checkpoint();  // a cancelled task ends here
    }
    co_return one.take();
}

bool connection::is_broken() const noexcept {
    return !session_ || session_->broken || PQstatus(session_->conn) != CONNECTION_OK;
}

bool connection::has_been_closed() noexcept {
    // What an idle connection has to read is a notice, or the server's last words and the end of the stream.
    for (int i = 0; i < 3 && !is_broken(); ++i) {
        char first = 0;
        const auto got = ::recv(PQsocket(session_->conn), &first, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            return false;
        }
        if (got <= 0 || PQconsumeInput(session_->conn) == 0) {
            session_->broken = true;
        } else {
            static_cast<void>(PQisBusy(session_->conn));  // lets libpq look at what it has read
        }
    }
    return is_broken();
}

bool connection::is_in_transaction() const noexcept { return PQtransactionStatus(session_->conn) != PQTRANS_IDLE; }

task<bool> connection::make_ready() {
    if (has_been_closed()) {
        co_return false;
    }
    if (is_in_transaction()) {
        static_cast<void>(co_await query("rollback"));
    }
    co_return !is_broken() && !is_in_transaction();
}

int connection::server_process() const noexcept { return PQbackendPID(session_->conn); }

void connection::close() noexcept {
    if (session_) {
        session_->broken = true;
        if (session_->conn != nullptr) {
            PQfinish(std::exchange(session_->conn, nullptr));
        }
        session_.reset();  // a cancel request that is under way keeps the rest
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
    if (!how.sockets) {
        how.sockets = std::make_shared<poller>(options.name);
    }
    return pool<connection>(std::move(options), connector(std::move(conninfo), std::move(how)), closer(), readiness());
}

}  // namespace roost::inline ROOST_ABI::postgres
