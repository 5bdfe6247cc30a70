#pragma once

// Lets Asio code wait for Roost tasks.
//
//   async_run(io, "report", make_report(day), [](std::exception_ptr error, report made) { ... });
//   report made = co_await async_run(io, "report", make_report(day), net::use_awaitable);          // in an Asio coroutine
//
// async_run is an initiating function like Asio's own and takes any completion token. The signature is
// void(std::exception_ptr, T), or void(std::exception_ptr) for a task<void>. The task runs as a job on the executor that is
// passed, under a root without a parent. When the task and everything it started have ended, the handler is called on its
// associated executor. Until then the call holds a work guard of that executor. A cancelled task completes with
// system_error(operation_aborted). A cancellation of the handler's slot reaches the job: total stops it, partial and
// terminal cancel it.

#include <roost/asio/detail/net.hpp>

#include <roost/asio/detail/run_block.hpp>
#include <roost/asio/detail/run_result.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/base/error.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/job.hpp>

#include <memory>
#include <source_location>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T, class Token>
auto async_run(executor_ref where, std::string name, task<T> t, Token&& token,
               std::source_location from = std::source_location::current()) {
    return detail::net::async_initiate<Token, detail::run_signature<T>>(detail::initiate_run<T>(where, from), token,
                                                                        std::move(name), std::move(t));
}
template <class T, class Token>
auto async_run(detail::net::io_context& io, std::string name, task<T> t, Token&& token,
               std::source_location from = std::source_location::current()) {
    return async_run(executor_ref(io_executor::of(io)), std::move(name), std::move(t), std::forward<Token>(token), from);
}

// Waits until an existing job has ended, with any outcome. Cancelling the wait does not cancel the job.
template <class Token>
auto async_run(executor_ref where, job which, Token&& token, std::source_location from = std::source_location::current()) {
    return async_run(where, "join", detail::join_job(std::move(which)), std::forward<Token>(token), from);
}

// Runs the task on the context, and the context on this thread. Returns when the task and everything it started have ended.
// Other threads may run the context too. Other handlers of the context run during the call; the call does not wait for them.
// Throws what the task throws. Throws task_cancelled if the task ended cancelled. Throws error(closed) if the context is
// stopped during the call. If it is stopped before, throws error(closed) without starting the task: call its restart()
// first. If an asio_driver drives it, throws misuse without starting the task: the runtime runs tasks, see asio_driver.hpp.
template <class T>
T run(detail::net::io_context& io, task<T> t, std::source_location from = std::source_location::current()) {
    detail::require_runnable(io);
    // Shared: if the context is stopped early, the task outlives this call.
    const auto result = std::make_shared<detail::run_result<T>>(io);
    const detail::run_wait_guard until_here(*result);
    const executor_ref where(io_executor::of(io));
    const auto root = detail::node_ref<detail::run_block>::adopt(new detail::run_block(where, "main", from));
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
