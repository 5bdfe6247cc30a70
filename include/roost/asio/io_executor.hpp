#pragma once

// Roost's tasks on the threads of an io_context.
//
//   boost::asio::io_context io;
//   owned_scope jobs(io_executor::of(io), "jobs");
//   root.launch("session", session(std::move(socket)));
//   io.run();
//
// One per context, and part of it: made at the first of(), ended with the context. Work that is posted runs in io.run(), on
// any of the threads that are in it, in turns with the context's other handlers. Timers (sleep_for, deadlines) are one
// steady_timer of the context. A sleeping task keeps io.run() from returning, a task that waits for something else does not:
// hold a work guard, or use run() or async_run() of asio/async_run.hpp, which do.
//
// The context may be destroyed by any thread as soon as the tasks on it have ended and no thread is in io.run(): a thread that
// woke the last task, also one of a blocking lane, touches nothing of the context once that task can run.
//
// When the context is destroyed with tasks left on it, operations that were begun with use_task end: their bodies unwind
// there, on the destroying thread, while the context's services still exist. Whatever else they wait for stays as it is.

#include <roost/asio/detail/boost_version.hpp>

#include <roost/asio/detail/handler_memory.hpp>
#include <roost/asio/detail/io_timers.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/executor.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <string_view>

namespace roost::inline ROOST_ABI {

class io_executor final : public boost::asio::execution_context::service, public executor {
public:
    // The one that belongs to the context.
    [[nodiscard]] static io_executor& of(boost::asio::io_context& context);

    bool post(work& w) noexcept override;
    timer_service* timers() noexcept override { return &timers_; }
    blocking_service* blocking() noexcept override { return blocking_; }
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return "io_context"; }

    // Where blocking(fn) runs: the lane of some runtime, for example. Before anything runs here.
    void set_blocking(blocking_service* lane) noexcept { blocking_ = lane; }
    // A promise of the user's: at most one thread at a time is inside io.run(). Operations on this context then need no strand
    // of their own to be cancelled safely. Before anything runs here.
    void set_single_threaded(bool promised = true) noexcept { single_threaded_ = promised; }
    [[nodiscard]] bool is_single_threaded() const noexcept { return single_threaded_; }

    [[nodiscard]] boost::asio::io_context& context() const noexcept { return *context_; }

    // For Asio.
    static inline boost::asio::execution_context::id id;
    explicit io_executor(boost::asio::execution_context& context);
    ~io_executor() override;

private:
    class turn;

    void shutdown() noexcept override;
    void schedule() noexcept;
    void run_some() noexcept;
    void run_rest() noexcept;

    boost::asio::io_context* context_;
    detail::io_timers timers_;
    blocking_service* blocking_ = nullptr;
    bool single_threaded_ = false;

    small_mutex lock_;
    work_list queue_;  // with the lock
    bool scheduled_ = false;  // with the lock: a turn waits in the context's queue
    bool closed_ = false;  // with the lock
    bool ending_ = false;  // with the lock: somebody is in run_rest()
    detail::handler_memory memory_;  // of the turn that waits
};

}  // namespace roost::inline ROOST_ABI
