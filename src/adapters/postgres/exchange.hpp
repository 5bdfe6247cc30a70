#pragma once

// One statement: sent, answered, and cancelled if necessary.
//
//   exchange: send --> receive --(socket ready)--> receive ... --> answered --> resumed
//   cancel:   wanted --> request runs on a side thread --> returned
//
// The coroutine is resumed when the server has answered and no cancel request runs: a request that is under way could hit
// the next statement. It is also resumed when the budget has passed: then the connection is closed, so the request can do
// no harm.

#include "session.hpp"
#include "waits.hpp"

#include <optional>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

// co_await: sends one statement and waits for the answer. take() then returns the result.
class exchange final : private ext::work, private poller::entry {
public:
    // give_up: the time at which the connection is closed, answered or not.
    exchange(std::shared_ptr<session> on, const std::string& sql, const std::vector<parameter>& args,
             time_point give_up = no_deadline) noexcept;
    ~exchange();

    [[nodiscard]] bool await_ready() noexcept { return !send(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        next_ = continuation(h);
        return !go_on();
    }
    void await_resume() noexcept { suspended_ = false; }
    // Never abandons the statement: asks the server to stop it, and completes when the server has.
    [[nodiscard]] bool try_cancel() noexcept;

    [[nodiscard]] ext::wait_target waits_on() const noexcept { return {"postgres query", std::string_view(on_->name)}; }

    [[nodiscard]] bool has_failed() const noexcept { return failure_.has_value() || unsaid_; }
    [[nodiscard]] bool was_cancelled() const noexcept { return cancel_wanted_; }
    [[nodiscard]] rows take();  // throws the server's error, std::bad_alloc without memory for it

private:
    friend class session;
    [[nodiscard]] bool send() noexcept;
    [[nodiscard]] bool send_text();
    [[nodiscard]] bool send_with_arguments();
    void end_pipeline() noexcept;
    [[nodiscard]] bool go_on() noexcept;
    [[nodiscard]] bool receive() noexcept;
    void give_up(bool was_answered) noexcept;
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
    bool begins_ = false;  // a BEGIN was sent with it
    bool is_pipelined_ = false;
    bool is_synchronised_ = false;  // the whole pipeline is answered
    rows last_;
    std::optional<error> failure_;
    bool unsaid_ = false;  // failed, without memory for the message

    // lock
    bool cancel_wanted_ = false;
    bool is_answered_ = false;
    bool is_finished_ = false;
    time_point give_up_at_;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
