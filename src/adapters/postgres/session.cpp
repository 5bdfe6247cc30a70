#include "session.hpp"

#include <array>
#include <new>
#include <string_view>

namespace roost::inline ROOST_ABI::postgres::detail {

// --- session -----------------------------------------------------------------------------------------------------------------

session::~session() { close(); }

void session::close() noexcept {
    if (cancel != nullptr) {
        PQfreeCancel(std::exchange(cancel, nullptr));
    }
    if (conn != nullptr) {
        PQfinish(std::exchange(conn, nullptr));
    }
    broken = true;
}

void cancel_request::send(work& self) noexcept {
    auto& request = static_cast<cancel_request&>(self);
    const std::shared_ptr<session> s = std::move(request.keep);
    std::array<char, 256> why{};
    // A request that fails leaves the statement to the budget.
    PQcancel(s->cancel, why.data(), static_cast<int>(why.size()));
    s->request_returned();
}

void session::request_returned() noexcept {
    lock.lock();
    request_runs = false;
    exchange* waits = current;
    const bool is_last = waits != nullptr && waits->is_answered_ && !waits->is_finished_ && sockets->withdraw(*waits);
    if (is_last) {
        waits->is_finished_ = true;
        current = nullptr;
    }
    lock.unlock();
    if (is_last) {
        waits->resume_later();
    }
}

// --- socket_wait -------------------------------------------------------------------------------------------------------------

socket_wait::socket_wait(poller& in, int fd, std::uint32_t events, time_point deadline) noexcept
    : work(+[](work& w) noexcept { static_cast<socket_wait&>(w).next_.resume(); }),
      entry(+[](entry& e, std::uint32_t got) noexcept {
          auto& self = static_cast<socket_wait&>(e);
          self.events_ = got;
          self.next_.post(self);
      }),
      sockets_(in),
      fd_(fd),
      events_(events),
      deadline_(deadline) {}

socket_wait::~socket_wait() {
    if (suspended_ && !sockets_.withdraw(*this)) {
        panic("socket wait", "postgres", site(), "its coroutine was destroyed while it is being resumed");
    }
}

bool socket_wait::begin() noexcept {
    suspended_ = true;
    if (sockets_.arm(*this, fd_, events_, deadline_)) {
        return true;
    }
    suspended_ = false;
    events_ = poller::none;
    return false;
}

std::uint32_t socket_wait::await_resume() noexcept {
    suspended_ = false;
    return events_;
}

bool socket_wait::try_cancel() noexcept {
    if (!sockets_.withdraw(*this)) {
        return false;
    }
    suspended_ = false;
    return true;
}

// --- exchange ----------------------------------------------------------------------------------------------------------------

exchange::exchange(std::shared_ptr<session> on, const std::string& sql, const std::vector<parameter>& args) noexcept
    : work(+[](work& w) noexcept {
          auto& self = static_cast<exchange&>(w);
          if (self.go_on()) {
              self.next_.resume();
          }
      }),
      entry(+[](entry& e, std::uint32_t got) noexcept {
          auto& self = static_cast<exchange&>(e);
          self.events_ = got;
          self.next_.post(self);
      }),
      on_(std::move(on)),
      sql_(sql),
      args_(args) {}

exchange::~exchange() {
    if (suspended_) {
        panic("statement", "postgres", site(),
              "its coroutine was destroyed while it runs; cancel the task and join it instead");
    }
}

// False: it could not be sent, which is the answer.
bool exchange::send() noexcept {
    if (on_->broken) {
        fail("08003", "the connection is broken", true);
        return false;
    }
    int sent = 0;
    if (args_.empty()) {
        sent = PQsendQuery(on_->conn, sql_.c_str());
    } else {
        try {
            std::vector<const char*> values;
            values.reserve(args_.size());
            for (const parameter& p : args_) {
                values.push_back(p ? p->c_str() : nullptr);
            }
            sent = PQsendQueryParams(on_->conn, sql_.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                                     nullptr, nullptr, 0);
        } catch (...) {
            fail("53200", "out of memory", false);
            return false;
        }
    }
    if (sent == 0) {
        fail("", PQerrorMessage(on_->conn), PQstatus(on_->conn) != CONNECTION_OK);
        return false;
    }
    return true;
}

// True: finished, the coroutine goes on. False: whoever is waited for brings it back; nothing may be touched any more.
bool exchange::go_on() noexcept {
    const std::shared_ptr<session> s = on_;
    suspended_ = true;
    const bool is_late = (events_ & poller::expired) != 0;
    const bool was_answered = is_answered_;  // written by nobody but this operation's own steps
    const bool is_answered = was_answered || (!is_late && receive());
    if (is_late) {
        fail("57014",
             was_answered ? "a cancel request did not return in time" : "the server did not answer a cancel request", true);
    }
    s->lock.lock();
    is_answered_ = is_answered;
    bool is_finished = is_late || (is_answered && !s->request_runs);
    if (!is_finished) {
        s->current = this;
        const int fd = is_answered ? -1 : PQsocket(s->conn);
        const std::uint32_t wanted = is_writing_ ? poller::readable | poller::writable : poller::readable;
        if (!s->sockets->arm(*this, fd, wanted, cancel_wanted_ ? give_up_at_ : no_deadline)) {
            fail("", "the socket cannot be watched", true);
            is_finished = true;
        }
    }
    if (is_finished) {
        is_finished_ = true;
        s->current = nullptr;
    }
    s->lock.unlock();
    return is_finished;
}

// Reads and writes what it can without waiting. True: the server has answered completely, or is lost.
bool exchange::receive() noexcept {
    PGconn* c = on_->conn;
    if ((events_ & poller::readable) != 0 && PQconsumeInput(c) == 0) {
        fail("", PQerrorMessage(c), true);
        return true;
    }
    if (is_writing_) {
        const int left = PQflush(c);
        if (left < 0) {
            // The server may have said why before it hung up.
            static_cast<void>(PQconsumeInput(c));
        }
        is_writing_ = left == 1;
    }
    while (PQisBusy(c) == 0) {
        PGresult* r = PQgetResult(c);
        if (r == nullptr) {
            return true;
        }
        keep(r);
        if (on_->broken) {
            return true;
        }
    }
    if (PQstatus(c) != CONNECTION_OK) {
        fail("", PQerrorMessage(c), true);
        return true;
    }
    return false;
}

void exchange::keep(PGresult* r) noexcept {
    rows held(r);
    switch (PQresultStatus(r)) {
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
        case PGRES_EMPTY_QUERY: last_ = std::move(held); return;
        case PGRES_COPY_IN:
        case PGRES_COPY_OUT:
        case PGRES_COPY_BOTH: fail("0A000", "COPY is not supported here", true); return;
        default: break;
    }
    const char* state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char* severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    const std::string_view how_bad = severity == nullptr ? "" : severity;
    const bool lost = how_bad == "FATAL" || how_bad == "PANIC" || PQstatus(on_->conn) != CONNECTION_OK;
    fail(state == nullptr ? "" : state, PQresultErrorMessage(r), lost);
}

// The first failure is the one that is told.
void exchange::fail(std::string_view state, std::string_view message, bool lost) noexcept {
    on_->broken = on_->broken || lost;
    if (has_failed()) {
        return;
    }
    try {
        failure_.emplace(state, message, lost);
    } catch (...) {
        unsaid_ = true;
    }
}

bool exchange::try_cancel() noexcept {
    const std::shared_ptr<session> s = on_;
    s->lock.lock();
    if (is_finished_ || cancel_wanted_) {
        s->lock.unlock();
        return false;
    }
    blocking_service* lane = next_.executor ? next_.executor->blocking() : nullptr;
    cancel_wanted_ = true;
    give_up_at_ = lane == nullptr ? now() : deadline_after(now(), s->cancel_budget);
    if (!is_answered_ && lane != nullptr) {
        s->request_runs = true;
        s->request.keep = s;
    }
    s->sockets->hurry(*this, give_up_at_);
    const bool asks = s->request_runs;
    s->lock.unlock();
    if (asks && !lane->submit(s->request)) {
        s->request.keep.reset();
        s->request_returned();
    }
    return false;
}

void exchange::resume_later() noexcept {
    set_run(+[](work& w) noexcept { static_cast<exchange&>(w).next_.resume(); });
    next_.post(*this);
}

rows exchange::take() {
    if (unsaid_) {
        throw std::bad_alloc();
    }
    if (failure_) {
        throw error(*failure_);
    }
    return std::move(last_);
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
