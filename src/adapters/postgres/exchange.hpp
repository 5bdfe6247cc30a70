#pragma once

// One statement: sent, answered, and cancelled if necessary.
//
//   exchange: send --> receive --(socket ready)--> receive ... --> answered --> resumed
//   cancel:   wanted --> request runs on a side thread --> returned
//
// The coroutine is resumed when the server has answered and no cancel request runs: a request that is under way could hit
// the next statement. It is also resumed when the budget has passed: then the connection is closed, so the request can do
// no harm. A request that reaches the server before its statement does is ignored there, so requests are repeated.

#include "event_wait.hpp"
#include "session.hpp"

#include <optional>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

// co_await: sends one statement and waits for the answer. take() then returns the result.
class exchange final : private event_wait {
public:
    // give_up: the time at which the connection is closed, answered or not.
    exchange(std::shared_ptr<session> on, const std::string& sql, const std::vector<parameter>& args,
             time_point give_up = no_deadline) noexcept;
    ~exchange();

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        bind(continuation(h));
        return begin_statement();
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
    static constexpr unsigned rounds_in_turn = 16;
    static constexpr duration request_interval = std::chrono::milliseconds(100);

    [[nodiscard]] bool begin_statement() noexcept;
    [[nodiscard]] bool send() noexcept;
    [[nodiscard]] bool send_text();
    [[nodiscard]] bool send_with_arguments();
    void end_pipeline() noexcept;
    [[nodiscard]] bool go_on() noexcept;
    [[nodiscard]] bool receive(std::uint32_t events) noexcept;
    [[nodiscard]] bool ends_early(std::uint32_t events) const noexcept;
    [[nodiscard]] bool wants_request() const noexcept;
    [[nodiscard]] time_point wakes_at() const noexcept;
    void say_why(std::uint32_t events) noexcept;
    void keep(PGresult* r) noexcept;
    void fail(std::string_view state, std::string_view message, bool lost) noexcept;

    std::shared_ptr<session> on_;
    const std::string& sql_;
    const std::vector<parameter>& args_;
    time_point last_limit_;  // that was set
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
    time_point ask_again_at_ = no_deadline;  // the next request, if the last one had no effect
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
