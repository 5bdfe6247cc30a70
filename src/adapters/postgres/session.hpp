#pragma once

// One session with a server: libpq's object, the socket it waits for, and the cancel request that may be under way.
//
// libpq's object belongs to the one operation in progress, and is handed on through the executor. Fields marked "lock" are
// under the session's lock, which is taken before that of a wait, never the other way round.

#include <roost/adapters/postgres/connection.hpp>
#include <roost/io/descriptor.hpp>

#include "side_threads.hpp"

#include <libpq-fe.h>

#include <cstdint>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

class exchange;
class session;

// Asks the server to stop what a session runs. Blocks without a limit, so it has a side thread and owns what it uses.
class cancel_call final : public side_call {
public:
    cancel_call(const std::string& name, const std::shared_ptr<session>& of);  // throws std::bad_alloc
    ~cancel_call() override;

private:
    void run() noexcept override;
    void returned() noexcept override;

    PGcancel* key_;
    std::weak_ptr<session> session_;
};

// A transaction whose BEGIN the server does not have: it is sent with the next statement, or was sent with one that failed
// first.
enum class begin_state : std::uint8_t { none, owed, failed };

class session {
public:
    session(std::string called, std::shared_ptr<poller> with, duration budget) noexcept
        : name(std::move(called)), shared(std::move(with)), cancel_budget(budget) {}
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session();
    void close() noexcept;
    // Requires that request_runs was set, and that the lock is not held.
    void send_request() noexcept;
    void request_returned() noexcept;

    std::string name;
    PGconn* conn = nullptr;
    io::descriptor socket;  // libpq's; it closes it itself when the connection is lost
    std::shared_ptr<cancel_call> request;
    bool broken = false;
    begin_state beginning = begin_state::none;
    std::shared_ptr<poller> shared;
    duration cancel_budget;

    small_mutex lock;
    exchange* current = nullptr;  // lock
    bool request_runs = false;  // lock
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
