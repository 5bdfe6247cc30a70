#pragma once

// Asio code waits for Roost.
//
//   async_run(io, "report", make_report(day), [](std::exception_ptr error, report made) { ... });
//   report made = co_await async_run(io, "report", make_report(day), net::use_awaitable);          // in an Asio coroutine
//
// async_run is an initiating function like Asio's own: any completion token, void(std::exception_ptr, T), or
// void(std::exception_ptr) for a task<void>. The task runs as a job of its own on the given executor, under a root without a
// parent. The handler is called on its associated executor, which is kept at work meanwhile, when the task and everything it
// started has ended: no frame of it is left. A task that ended cancelled gives system_error(operation_aborted).
// Cancellation of the handler's slot is passed on: total stops the job, partial and terminal cancel it.

#include <roost/asio/detail/run_block.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/job.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <optional>
#include <string>

namespace roost::inline ROOST_ABI {

template <class T, class Token>
auto async_run(executor_ref where, std::string name, task<T> t, Token&& token,
               std::source_location from = std::source_location::current()) {
    return boost::asio::async_initiate<Token, detail::run_signature<T>>(detail::initiate_run<T>(where, from), token,
                                                                        std::move(name), std::move(t));
}
template <class T, class Token>
auto async_run(boost::asio::io_context& io, std::string name, task<T> t, Token&& token,
               std::source_location from = std::source_location::current()) {
    return async_run(executor_ref(io_executor::of(io)), std::move(name), std::move(t), std::forward<Token>(token), from);
}

namespace detail {

[[nodiscard]] task<> join_job(job which);
[[noreturn]] void throw_stopped();

// What a task on a context ended with, brought to the thread that runs the context, which is kept at work until then.
template <class T>
class run_result final : private work {
public:
    explicit run_result(boost::asio::io_context& io)
        : work(+[](work& self) noexcept { static_cast<run_result&>(self).arrived(); }),
          where_(io_executor::of(io)),
          at_work_(io.get_executor()) {}

    [[nodiscard]] bool has_arrived() const noexcept { return arrived_; }
    [[nodiscard]] outcome<T>& how() noexcept { return *how_; }
    void keep(outcome<T> how) noexcept { how_.emplace(std::move(how)); }
    void send(std::shared_ptr<run_result> self) noexcept {
        self_ = std::move(self);
        where_.post(*this);
    }

private:
    void arrived() noexcept {
        const std::shared_ptr<run_result> self = std::move(self_);
        at_work_.reset();
        arrived_ = true;
    }

    io_executor& where_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> at_work_;
    std::optional<outcome<T>> how_;
    std::shared_ptr<run_result> self_;  // on its way
    bool arrived_ = false;
};

template <class T>
class send_result {
public:
    explicit send_result(std::shared_ptr<run_result<T>> to) noexcept : to_(std::move(to)) {}
    void keep(outcome<T> how) noexcept { to_->keep(std::move(how)); }
    [[nodiscard]] bool try_deliver() noexcept {
        to_->send(to_);
        return true;
    }

private:
    std::shared_ptr<run_result<T>> to_;
};

}  // namespace detail

// Waits for a job that is there already, however it ends. Cancelling the wait leaves the job alone.
template <class Token>
auto async_run(executor_ref where, job which, Token&& token, std::source_location from = std::source_location::current()) {
    return async_run(where, "join", detail::join_job(std::move(which)), std::forward<Token>(token), from);
}

// Runs the task on the context, and the context on this thread, until the task and everything it started has ended. Other
// handlers of the context run meanwhile, and what is left of them later. Throws what the task throws, error(closed) when it
// ended cancelled or the context was stopped.
template <class T>
T run(boost::asio::io_context& io, task<T> t, std::source_location from = std::source_location::current()) {
    // Shared, because a context that is stopped early leaves the task behind.
    const auto result = std::make_shared<detail::run_result<T>>(io);
    const executor_ref where(io_executor::of(io));
    const auto root = node_ref<detail::run_block>::adopt(new detail::run_block(where, "main", from));
    detail::start_run<T>(*root, where, "main", std::move(t), from, detail::send_result<T>(result));
    while (!result->has_arrived()) {
        if (io.run_one() == 0) {
            detail::throw_stopped();
        }
    }
    if (result->how().is_cancelled()) {
        detail::throw_cancelled(result->how().why());
    }
    return std::move(result->how()).value_or_throw();
}

}  // namespace roost::inline ROOST_ABI
