#pragma once

// Makes the workers of a runtime drive an io_context: its handlers run on them, and no other thread is needed.
//
//   ext::asio_driver io;                                      // declared before the runtime: it must outlive it
//   runtime rt(runtime_options().workers(2).driver(io));
//   tcp::acceptor door(io.context(), endpoint);
//   run(rt, serve(door));                                     // tasks await operations with use_task
//
// A worker that has nothing to run waits in the context. When an operation of a task has ended, the task is queued, and any
// worker runs it. Bodies never run inside the context. A busy runtime looks at the context as often as at its own driver.
//
// At most one worker is in the context at a time. So the context keeps the promise of io_executor::set_single_threaded(),
// and operations need no strand. No other thread may call run() or poll() of the context. Stopping it has no effect.
//
// Handlers of other completion tokens run inside the context: they must be short. One that throws is reported to the failure
// sink. Operations may begin on several workers at once; an I/O object is for one task at a time, as ever.
//
// Tasks may use the sockets of the layer io beside Asio's.

#include <roost/asio/detail/forward.hpp>
#include <roost/asio/detail/net.hpp>

#include <roost/base/site.hpp>
#include <roost/exec/driver.hpp>

#include <memory>
#include <source_location>
#include <system_error>

namespace roost::inline ROOST_ABI::ext {

class asio_driver final : public driver {
public:
    // Makes a context. Throws std::bad_alloc, and what the context throws.
    explicit asio_driver(site made_at = std::source_location::current());
    // Drives this context, which must outlive the driver. Requires that no thread is in it, and that no operation of a task has
    // begun on it.
    explicit asio_driver(detail::net::io_context& given, site made_at = std::source_location::current());
    // Requires that the runtime has been destroyed.
    ~asio_driver();

    [[nodiscard]] detail::net::io_context& context() const noexcept;

    // Called by the runtime.
    bool poll() noexcept override;
    void park(time_point deadline) noexcept override;
    void wake() noexcept override;
    ext::reactor* reactor(std::error_code& why) noexcept override;
    // After this, the context may be run by other threads again.
    void close() noexcept override;

private:
    std::unique_ptr<detail::net::io_context> own_;
    detail::driven_context* driven_;
};

}  // namespace roost::inline ROOST_ABI::ext
