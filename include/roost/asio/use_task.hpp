#pragma once

// use_task: makes every Asio operation awaitable in a task. The operation ends when the task is cancelled.
//
//   task<> echo(tcp::socket peer) {
//       std::array<char, 4096> data;
//       for (;;) {
//           std::size_t n = co_await peer.async_read_some(net::buffer(data), use_task);
//           co_await fail_after(2s, net::async_write(peer, net::buffer(data, n), use_task));
//       }
//   }
//
// co_await returns the handler's arguments without a leading error_code or exception_ptr; several arguments are a tuple. An
// error is thrown (system_error of Asio's form). Asio's adapters work: as_tuple(use_task) and, innermost, bind_executor(ex,
// use_task).
//
// The operation begins when it is awaited, unless the task is cancelled by then. The task resumes on its own executor, at
// once if the handler runs there. Levels of the tree become Asio's cancellation types:
//   cancel   terminal. The body unwinds when the operation has ended.
//            If a deadline or a scope inside the job cancelled, a result that exists is delivered: a value, or an error
//            other than operation_aborted. The next await then cancels. So a read under a deadline can be retried: its
//            bytes are returned or still in the kernel. If the job itself is being cancelled, the result is destroyed. A
//            failure in an exception_ptr is delivered even then. A handler that ran before the cancel always delivers its
//            result. A composed operation (async_read, async_write) that is aborted may have moved some bytes already.
//            as_tuple(use_task) returns operation_aborted with their number. Without as_tuple the number is lost, and the
//            stream is unusable.
//   stop     total. Operations that support it (accept, wait, connect, a single read or write) end with operation_aborted,
//            which the body sees. Others ignore it, such as async_read, async_write and Beast's. An operation that begins
//            after the stop is treated alike. use_task.through_stop() ignores stop.
// The signal is emitted on the operation's executor: the bound one, or that of the I/O object. If that executor may run
// handlers in parallel, the operation gets its own strand. So an emission never runs beside its handlers. No strand is made
// for an executor that is a strand, or for an io_context with io_executor::set_single_threaded() or an asio_driver.
//
// A handler may be destroyed without being called, as all are with their io_context. Then the body ends cancelled with the
// reason `closed`.

#include <roost/asio/detail/net.hpp>

#include <roost/base/config.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/task.hpp>
#include <roost/task/timeout.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI {

namespace ext {

class use_task_t {
public:
    constexpr use_task_t() noexcept = default;
    // Returns a token for operations that a stop does not end.
    [[nodiscard]] constexpr use_task_t through_stop() const noexcept {
        use_task_t made;
        made.ends_at_stop_ = false;
        return made;
    }
    [[nodiscard]] constexpr bool ends_at_stop() const noexcept { return ends_at_stop_; }

private:
    bool ends_at_stop_ = true;
};

}  // namespace ext
inline constexpr ext::use_task_t use_task;

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/asio/detail/operation_call.hpp>
