#pragma once

// The timers of an io_context's executor: a wheel under a lock, and one steady_timer that waits for its earliest slot.
//
// Why it is not simpler: a steady_timer per Roost timer would allocate in arm(), and its handler can't be taken back.
//
// Fields   all with the lock. timer::state: idle, armed, fired
// I1       a timer is in the wheel exactly while its state is armed
// I2       at most one wait is under way, and while one thread is in advance() nobody else begins one
//
// id  operation                 order    pairs  carries                                                 fails in
// T1  rounds_ fetch_add         relaxed  T2     nothing: changed and compared under the lock            (floor)
// T2  rounds_ load              relaxed  T1     nothing: as T1                                          (floor)

#include <roost/asio/detail/handler_memory.hpp>
#include <roost/base/atomic.hpp>
#include <roost/exec/detail/timer_wheel.hpp>
#include <roost/exec/timer.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

class io_timers final : public timer_service {
public:
    explicit io_timers(boost::asio::io_context& context);
    ~io_timers() = default;

    [[nodiscard]] time_point now() noexcept override { return roost::now(); }
    bool arm(timer& t) noexcept override;
    bool disarm(timer& t) noexcept override;

    // Refuses from now on, and takes the timer from its context; how many were still armed: they will not fire.
    std::size_t close() noexcept;

private:
    using alarm =
        boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                          boost::asio::io_context::executor_type>;
    class rung;
    enum : std::uint32_t { idle = 0, armed = 1, fired = 2 };

    void advance() noexcept;
    void begin_wait() noexcept;
    void wait_out(timer& t) noexcept;

    small_mutex lock_;
    bool closed_ = false;
    bool waiting_ = false;    // a handler of alarm_ is under way
    bool advancing_ = false;
    bool awaited_ = false;
    std::uint32_t firing_thread_ = 0;
    timer* firing_ = nullptr;
    timer_wheel<>::tick known_ = timer_wheel<>::never;  // when alarm_ rings at the latest
    atomic<std::uint32_t> rounds_{0};
    timer_wheel<> wheel_;
    handler_memory memory_;
    std::optional<alarm> alarm_;
};

}  // namespace roost::inline ROOST_ABI::detail
