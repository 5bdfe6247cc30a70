#pragma once

// The part of an asio_driver that lives in its io_context: the handlers that it posts refer to it.
//
// id  operation                order    pairs  carries                                             fails in
// A1  wake: exchange           seq_cst  A2     that memory_ is free                                (no model: Asio's queue)
// A2  rung: store              seq_cst  A1     as A1                                               (no model: Asio's queue)
//
// Fields   all others: by the thread in the driver, or before and after it

#include <roost/asio/detail/handler_memory.hpp>
#include <roost/asio/detail/net.hpp>
#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/driver.hpp>

#include <cstddef>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

class driven_context final : public net::execution_context::service {
public:
    // Begins to drive the context. Ends the program if it is driven already.
    [[nodiscard]] static driven_context& of(net::io_context& context, site made_at);
    [[nodiscard]] static bool is_driven(net::io_context& context) noexcept;

    [[nodiscard]] net::io_context& context() const noexcept { return *context_; }
    bool poll() noexcept;
    void park(time_point deadline) noexcept;
    void wake() noexcept;
    ext::reactor* reactor(std::error_code& why) noexcept;
    void close() noexcept;

    // Called by Asio.
    static inline net::execution_context::id id;
    explicit driven_context(net::execution_context& context);
    ~driven_context() override = default;

private:
    class rung;
    class rang;
    using alarm = net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>,
                                            net::io_context::executor_type>;

    void shutdown() noexcept override { alarm_.reset(); }
    template <class Call>
    std::size_t try_run(Call call) noexcept;
    bool set_alarm(time_point deadline) noexcept;

    net::io_context* context_;
    std::optional<net::executor_work_guard<net::io_context::executor_type>> at_work_;
    bool was_single_threaded_ = false;
    site made_at_;

    handler_memory memory_;  // of the handler of wake()
    seam::atomic<bool> ringing_{false};  // that handler is queued

    std::optional<alarm> alarm_;
    handler_memory alarm_memory_;
    time_point alarm_at_ = no_deadline;  // no_deadline: no wait is under way
    unsigned alarms_ = 0;  // waits whose handlers have not run

    bool has_run_ = false;  // park() has run a handler
    bool is_sparse_ = false;  // the last look after such a park() found no further handler
    unsigned skipped_ = 0;  // looks that were left out since
};

}  // namespace roost::inline ROOST_ABI::detail
