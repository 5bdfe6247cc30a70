#pragma once

// One conversation with a server: libpq's object, the socket it waits for, and the cancel request that may be on its way.
//
// Who touches what. libpq's object: whoever runs the one operation in progress, handed on through the poller and the
// executor. What is marked "lock": under the session's lock, which is taken before the poller's, never the other way round.
//
//   exchange: send --> receive --(socket ready)--> receive ... --> answered --> resumed
//   cancel:   wanted --> request runs on the blocking lane --> returned
//
// The coroutine is resumed when the server has answered and no request runs: a request that is still under way could hit the
// next statement. Or when the budget has passed: then the connection is given up, and what the request hits does not matter.

#include <roost/adapters/postgres/connection.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/resume.hpp>

#include <libpq-fe.h>

#include <coroutine>
#include <optional>

namespace roost::inline ROOST_ABI::postgres::detail {

class exchange;

// Asks the server to stop what a session runs. Blocks, so it runs on the blocking lane; keeps its session meanwhile.
class cancel_request : public blocking_work {
public:
    cancel_request() noexcept : blocking_work(&cancel_request::send) {}
    std::shared_ptr<session> keep;

private:
    static void send(work& self) noexcept;
};

class session {
public:
    session(std::shared_ptr<poller> s, duration budget) noexcept : sockets(std::move(s)), cancel_budget(budget) {}
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session();
    void close() noexcept;
    void request_returned() noexcept;

    PGconn* conn = nullptr;
    PGcancel* cancel = nullptr;
    bool broken = false;
    std::shared_ptr<poller> sockets;
    duration cancel_budget;

    small_mutex lock;
    exchange* current = nullptr;  // lock
    bool request_runs = false;  // lock
    cancel_request request;
};

// Where a coroutine goes on.
class continuation {
public:
    continuation() noexcept = default;
    template <class Promise>
    explicit continuation(std::coroutine_handle<Promise> h) noexcept
        : executor(executor_of(h)), frame_(h.address()), resume_(resume_function_of<Promise>()) {}
    void resume() const noexcept { resume_(frame_); }
    void post(work& w) const noexcept {
        if (executor) {
            post_or_fall_back(executor, w, "a PostgreSQL connection");
        } else {
            w.run();
        }
    }

    executor_ref executor;

private:
    void* frame_ = nullptr;
    resume_function resume_ = nullptr;
};

// co_await: the events the socket has; expired when the deadline came first, none when it cannot be watched.
class socket_wait final : private work, private poller::entry {
public:
    socket_wait(poller& in, int fd, std::uint32_t events, time_point deadline) noexcept;
    ~socket_wait();
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        next_ = continuation(h);
        return begin();
    }
    [[nodiscard]] std::uint32_t await_resume() noexcept;
    [[nodiscard]] bool try_cancel() noexcept;

private:
    [[nodiscard]] bool begin() noexcept;

    poller& sockets_;
    int fd_;
    std::uint32_t events_;
    time_point deadline_;
    bool suspended_ = false;
    continuation next_;
};

// co_await: one statement, sent and answered. What came of it is taken afterwards.
class exchange final : private work, private poller::entry {
public:
    exchange(std::shared_ptr<session> on, const std::string& sql, const std::vector<parameter>& args) noexcept;
    ~exchange();

    [[nodiscard]] bool await_ready() noexcept { return !send(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        next_ = continuation(h);
        return !go_on();
    }
    void await_resume() noexcept { suspended_ = false; }
    // Never abandons: asks the server to stop, and completes when it has.
    [[nodiscard]] bool try_cancel() noexcept;

    [[nodiscard]] bool has_failed() const noexcept { return failure_.has_value() || unsaid_; }
    [[nodiscard]] bool was_cancelled() const noexcept { return cancel_wanted_; }
    [[nodiscard]] rows take();  // throws what the server said, std::bad_alloc when there was no memory for it

private:
    friend class session;
    [[nodiscard]] bool send() noexcept;
    [[nodiscard]] bool go_on() noexcept;
    [[nodiscard]] bool receive() noexcept;
    void keep(PGresult* r) noexcept;
    void fail(std::string_view state, std::string_view message, bool lost) noexcept;
    void resume_later() noexcept;

    std::shared_ptr<session> on_;
    const std::string& sql_;
    const std::vector<parameter>& args_;
    continuation next_;
    std::uint32_t events_ = poller::none;
    bool suspended_ = false;
    bool is_writing_ = true;
    rows last_;
    std::optional<error> failure_;
    bool unsaid_ = false;  // failed, without memory for the words

    // lock
    bool cancel_wanted_ = false;
    bool is_answered_ = false;
    bool is_finished_ = false;
    time_point give_up_at_ = no_deadline;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
