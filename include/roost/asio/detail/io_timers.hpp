#pragma once

// The timers of an io_context's executor: a wheel under a lock, and one steady_timer that waits for its earliest slot.
//
// Why it is not simpler: a steady_timer per Roost timer would allocate in arm(), and its handler cannot be withdrawn.
//
// Fields   all under the table's lock
// I1       at most one wait is under way, and while one thread is in advance() no other begins one

#include <roost/asio/detail/handler_memory.hpp>
#include <roost/asio/detail/net.hpp>
#include <roost/exec/detail/timer_table.hpp>
#include <roost/exec/timer.hpp>

#include <cstddef>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

class io_timers final : public ext::timer_service {
public:
    explicit io_timers(net::io_context& context);
    ~io_timers() = default;

    [[nodiscard]] time_point now() noexcept override { return roost::now(); }
    bool arm(ext::timer& t) noexcept override;
    bool disarm(ext::timer& t) noexcept override;

    // Refuses new timers, and removes the alarm from its context. Returns how many were still armed; they never fire.
    std::size_t close() noexcept;

private:
    using alarm = net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>,
                                            net::io_context::executor_type>;
    class rung;

    void advance() noexcept;
    void begin_wait() noexcept;

    timer_table table_;
    bool waiting_ = false;  // a handler of alarm_ is under way, also for a while after close()
    bool advancing_ = false;
    handler_memory memory_;
    std::optional<alarm> alarm_;  // empty when closed; accessed through value(), which would end the program
};

}  // namespace roost::inline ROOST_ABI::detail
