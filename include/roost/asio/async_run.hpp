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

#include <roost/asio/detail/boost_version.hpp>

#include <roost/asio/detail/run_block.hpp>
#include <roost/asio/detail/run_wait.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/base/error.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/job.hpp>

#include <boost/asio/io_context.hpp>

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
[[noreturn]] void throw_stopped_before();

// What a task on a context ended with, for the thread that is inside run().
template <class T>
class run_result final : public run_wait {
public:
    explicit run_result(boost::asio::io_context& io) : run_wait(io) {}
    void keep(outcome<T> how) noexcept { how_.emplace(std::move(how)); }
    [[nodiscard]] outcome<T>& how() noexcept { return *how_; }

private:
    std::optional<outcome<T>> how_;
};

// The calls of run() on the context, as long as they wait for the result.
class run_wait_guard {
public:
    explicit run_wait_guard(run_wait& wait) noexcept : wait_(&wait) {}
    ~run_wait_guard() { wait_->leave(); }
    run_wait_guard(const run_wait_guard&) = delete;
    run_wait_guard& operator=(const run_wait_guard&) = delete;

private:
    run_wait* wait_;
};

template <class T>
class send_result {
public:
    explicit send_result(std::shared_ptr<run_result<T>> to) noexcept : to_(std::move(to)) {}
    void keep(outcome<T> how) noexcept { to_->keep(std::move(how)); }
    [[nodiscard]] bool try_deliver() noexcept {
        to_->send();
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
// threads may run the context, too. Other handlers of the context run meanwhile; this call returns without waiting for them.
// Throws what the task throws, and error(closed) when the task ended cancelled, when the context is stopped meanwhile, or, with
// nothing begun, when the context is stopped already: call its restart() before.
template <class T>
T run(boost::asio::io_context& io, task<T> t, std::source_location from = std::source_location::current()) {
    if (io.stopped()) {
        detail::throw_stopped_before();
    }
    // Shared, because a context that is stopped early leaves the task behind.
    const auto result = std::make_shared<detail::run_result<T>>(io);
    const detail::run_wait_guard until_here(*result);
    const executor_ref where(io_executor::of(io));
    const auto root = node_ref<detail::run_block>::adopt(new detail::run_block(where, "main", from));
    detail::start_run<T>(*root, where, "main", std::move(t), from, detail::send_result<T>(result));
    while (!result->has_arrived()) {
        if (io.run_one() == 0 && !result->has_arrived()) {
            detail::throw_stopped();
        }
    }
    if (result->how().is_cancelled()) {
        detail::throw_cancelled(result->how().why());
    }
    return std::move(result->how()).value_or_throw();
}

}  // namespace roost::inline ROOST_ABI
