#pragma once

// Runs Roost tasks on the threads of an io_context.
//
//   boost::asio::io_context io;
//   owned_scope jobs(io_executor::of(io), "jobs");
//   jobs.launch("session", session(std::move(socket)));
//   io.run();
//
// For a context that the workers of a runtime drive, use the runtime: see asio/asio_driver.hpp. Bodies that run here run
// inside the context.
//
// Each context has one io_executor, created by the first of() and destroyed with the context. Posted work runs in io.run(),
// on any thread that is in it, and alternates with the context's other handlers. Timers (sleep_for, deadlines) use one
// steady_timer of the context. A sleeping task keeps io.run() from returning; a task that waits for anything else does not.
// To keep io.run() running, hold a work guard, or use run() or async_run() of asio/async_run.hpp.
//
// Any thread may destroy the context when the tasks on it have ended and no thread is in io.run(). The thread that woke the
// last task does not touch the context once that task can run. This includes a thread of a blocking lane.
//
// Tasks may use the sockets and descriptors of the layer io beside Asio's (asio/detail/nested_reactor.hpp). While such a
// descriptor is open that a task has waited for, io.run() does not return.
//
// If the context is destroyed while tasks are left on it, operations begun with use_task end. Their bodies unwind on the
// destroying thread while the context's services still exist. Other waits of such tasks stay pending.

// Order X1: src/asio/io_executor.cpp.

#include <roost/asio/detail/forward.hpp>
#include <roost/asio/detail/net.hpp>

#include <roost/asio/detail/handler_memory.hpp>
#include <roost/asio/detail/io_timers.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/executor.hpp>

#include <cstddef>
#include <string_view>
#include <system_error>

namespace roost::inline ROOST_ABI {

class io_executor final : public detail::net::execution_context::service, public executor {
public:
    // Returns the executor of the context, and creates it if needed.
    [[nodiscard]] static io_executor& of(detail::net::io_context& context);

    bool post(ext::work& w) noexcept override;
    ext::timer_service* timers() noexcept override { return &timers_; }
    ext::blocking_service* blocking() noexcept override { return blocking_; }
    ext::reactor* reactor() noexcept override { return reactor_.load(seam::mo::seq_cst); }  // X1
    ext::reactor* make_reactor(std::error_code& why) noexcept override;
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return "io_context"; }

    // Sets the lane for blocking(fn), for example that of a runtime. Requires that nothing has run here yet.
    void set_blocking(ext::blocking_service* lane) noexcept { blocking_ = lane; }
    // The caller promises that at most one thread at a time is inside io.run(). Operations on this context then need no
    // strand of their own for cancellation. Requires that nothing has run here yet.
    void set_single_threaded(bool promised = true) noexcept;
    [[nodiscard]] bool is_single_threaded() const noexcept { return single_threaded_; }
    // Returns what was promised for this context, which may have no executor.
    [[nodiscard]] static bool is_single_threaded(detail::net::execution_context& context) noexcept;

    [[nodiscard]] detail::net::io_context& context() const noexcept { return *context_; }

    // Called by Asio.
    static inline detail::net::execution_context::id id;
    explicit io_executor(detail::net::execution_context& context);
    ~io_executor() override;

private:
    class turn;

    void shutdown() noexcept override;
    void schedule() noexcept;
    void run_some() noexcept;
    void run_rest() noexcept;

    detail::net::io_context* context_;
    detail::io_timers timers_;
    ext::blocking_service* blocking_ = nullptr;
    bool single_threaded_ = false;

    seam::small_mutex lock_;
    ext::work_list queue_;  // under lock_
    bool scheduled_ = false;  // under lock_: a turn waits in the context's queue
    bool closed_ = false;  // under lock_
    bool ending_ = false;  // under lock_: a thread is in run_rest()
    detail::handler_memory memory_;  // of the waiting turn

    seam::small_mutex making_;
    seam::atomic<ext::reactor*> reactor_{nullptr};
    detail::nested_reactor* nested_ = nullptr;  // under making_
};

}  // namespace roost::inline ROOST_ABI
