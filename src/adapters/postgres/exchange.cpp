#include "exchange.hpp"

#include <roost/base/assert.hpp>

#include <algorithm>
#include <new>
#include <string_view>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace ext;

exchange::exchange(std::shared_ptr<session> on, const std::string& sql, const std::vector<parameter>& args,
                   time_point give_up) noexcept
    : event_wait(
          *on->shared,
          +[](event_wait& e) noexcept {
              auto& self = static_cast<exchange&>(e);
              if (self.go_on()) {
                  self.next().resume();
              }
          }),
      on_(std::move(on)),
      sql_(sql),
      args_(args),
      last_limit_(no_deadline),
      give_up_at_(give_up) {}

exchange::~exchange() {
    if (suspended_) {
        roost::detail::panic("statement", on_->name, site(),
                             "its coroutine was destroyed while it runs; cancel the task and join it instead");
    }
}

// Returns true if the coroutine stays suspended.
bool exchange::begin_statement() noexcept {
    if (!send()) {
        return false;
    }
    return !go_on();
}

// Returns false if the statement could not be sent; the failure is then its answer.
bool exchange::send() noexcept {
    if (on_->broken) {
        fail("08003", "the connection is broken", true);
        return false;
    }
    if (on_->beginning == begin_state::failed) {
        fail("25P02", "the first statement of the transaction has failed, so nothing else runs in it", false);
        return false;
    }
    begins_ = std::exchange(on_->beginning, begin_state::none) == begin_state::owed;
    bool sent = false;
    try {
        sent = args_.empty() ? send_text() : send_with_arguments();
    } catch (...) {
        fail("53200", "out of memory", is_pipelined_);
        return false;
    }
    if (!sent) {
        fail("", PQerrorMessage(on_->conn), is_pipelined_ || PQstatus(on_->conn) != CONNECTION_OK);
    }
    return sent;
}

bool exchange::send_text() { return PQsendQuery(on_->conn, begins_ ? ("begin; " + sql_).c_str() : sql_.c_str()) != 0; }

// A BEGIN that is owed is sent first, in one pipeline.
bool exchange::send_with_arguments() {
    PGconn* c = on_->conn;
    std::vector<const char*> values;
    values.reserve(args_.size());
    for (const parameter& p : args_) {
        values.push_back(p ? p->c_str() : nullptr);
    }
    if (begins_) {
        is_pipelined_ = PQenterPipelineMode(c) != 0;
        if (!is_pipelined_ || PQsendQueryParams(c, "begin", 0, nullptr, nullptr, nullptr, nullptr, 0) == 0) {
            return false;
        }
    }
    return PQsendQueryParams(c, sql_.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr,
                             0) != 0 &&
           (!is_pipelined_ || PQpipelineSync(c) != 0);
}

// Returns true if the exchange is finished and the coroutine continues. If false, an event resumes it, and the caller must
// not touch it any more.
bool exchange::go_on() noexcept {
    const std::shared_ptr<session> s = on_;
    suspended_ = true;
    for (unsigned round = 1;; ++round) {
        const std::uint32_t events = end();
        const bool is_answered = is_answered_ || receive(events);  // written by this operation's own steps only
        s->lock.lock();
        is_answered_ = is_answered;
        const bool is_done = is_answered && !s->request_runs;
        if (is_done || ends_early(events)) {
            is_finished_ = true;
            s->current = nullptr;
            s->lock.unlock();
            if (!is_done) {
                say_why(events);
            }
            return true;
        }
        s->current = this;
        if (const time_point wanted = wakes_at(); wanted != last_limit_) {
            s->lock.unlock();  // the limit that is moved may be passing, which takes the lock
            set_limit(last_limit_ = wanted);
            continue;
        }
        if (round >= rounds_in_turn && next().executor()) {  // the server is fast: other work of this thread has a turn
            s->lock.unlock();
            post_last();
            return false;
        }
        const bool asks = wants_request() && now() >= ask_again_at_;
        s->request_runs = s->request_runs || asks;
        const bool waits =
            is_answered ? begin(nullptr, none) : begin(&s->socket, is_writing_ ? readable | writable : readable);
        s->lock.unlock();
        if (asks) {
            s->send_request();
        }
        if (waits) {
            return false;
        }
    }
}

// Called under the lock, as the next two.
bool exchange::ends_early(std::uint32_t events) const noexcept {
    return (events & refused) != 0 || ((events & expired) != 0 && now() >= give_up_at_);
}

bool exchange::wants_request() const noexcept {
    return cancel_wanted_ && !is_answered_ && !on_->request_runs && on_->request;
}

// Returns when a wait ends without an event.
time_point exchange::wakes_at() const noexcept {
    return wants_request() && now() < ask_again_at_ ? std::min(ask_again_at_, give_up_at_) : give_up_at_;
}

// Called for an exchange that ends before it is done. Nothing else changes it any more.
void exchange::say_why(std::uint32_t events) noexcept {
    if ((events & refused) != 0) {
        fail("", "the socket cannot be watched", true);
        return;
    }
    fail("57014",
         !cancel_wanted_ ? "the server did not answer in time"
         : is_answered_  ? "a cancel request did not return in time"
                         : "the server did not answer a cancel request",
         true);
}

// Reads and writes what it can without waiting. Returns true if the server has answered completely, or is lost.
bool exchange::receive(std::uint32_t events) noexcept {
    PGconn* c = on_->conn;
    if ((events & (readable | expired)) != 0 && PQconsumeInput(c) == 0) {
        fail("", PQerrorMessage(c), true);
        return true;
    }
    if (is_writing_) {
        const int left = PQflush(c);
        if (left < 0) {
            // The server may have sent the cause before it closed the connection.
            static_cast<void>(PQconsumeInput(c));
        }
        is_writing_ = left == 1;
    }
    while (PQisBusy(c) == 0) {
        PGresult* r = PQgetResult(c);
        if (r == nullptr) {
            if (is_pipelined_ && !is_synchronised_) {
                continue;  // the end of one of its statements
            }
            end_pipeline();
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

// Called after the last result. A statement that was refused before it ran has taken its BEGIN with it.
void exchange::end_pipeline() noexcept {
    if (is_pipelined_ && PQexitPipelineMode(on_->conn) == 0) {
        fail("", PQerrorMessage(on_->conn), true);
    }
    if (begins_ && has_failed() && PQtransactionStatus(on_->conn) == PQTRANS_IDLE) {
        on_->beginning = begin_state::failed;
    }
}

void exchange::keep(PGresult* r) noexcept {
    rows held(r);
    switch (PQresultStatus(r)) {
        case PGRES_PIPELINE_SYNC: is_synchronised_ = true; return;
        case PGRES_PIPELINE_ABORTED: return;  // an earlier result has the cause
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

// Keeps the first failure.
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
    cancel_wanted_ = true;
    give_up_at_ = std::min(give_up_at_, deadline_after(now(), s->cancel_budget));
    const bool asks = wants_request();
    s->request_runs = s->request_runs || asks;
    hurry(give_up_at_);
    s->lock.unlock();
    if (asks) {
        s->send_request();
    }
    return false;
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
