#pragma once

#include <roost/exec/blocking.hpp>
#include <roost/exec/detail/bell.hpp>
#include <roost/exec/detail/posters.hpp>
#include <roost/exec/executor.hpp>
#include <roost/runtime/detail/access.hpp>
#include <roost/runtime/detail/driver_seat.hpp>
#include <roost/runtime/detail/fork_check.hpp>
#include <roost/runtime/detail/forward.hpp>
#include <roost/runtime/detail/pace.hpp>
#include <roost/runtime/detail/pulse.hpp>
#include <roost/runtime/detail/timer_shards.hpp>
#include <roost/runtime/detail/work_ring.hpp>
#include <roost/runtime/detail/work_stack.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

// An executor that runs its work on the thread that calls run(): one thread, no stealing, its own timers. Posting from that
// thread costs no atomic operation.
class loop final : public executor {
public:
    explicit loop(std::string_view name = "loop", ext::driver* driver = nullptr);
    // Requires that run() has returned and that nothing is queued; see close(). Otherwise the program ends. Any thread may
    // destroy the loop as soon as posted work or stop() made run() return. Waits until the threads inside post(), stop() and
    // close() have left.
    ~loop();

    bool post(ext::work& w) noexcept override;
    bool post_last(ext::work& w) noexcept override;
    bool take_next(const ext::work& w) noexcept override;
    ext::timer_service* timers() noexcept override { return &timers_; }
    ext::blocking_service* blocking() noexcept override { return blocking_; }
    ext::reactor* reactor() noexcept override { return seat_.reactor(); }
    ext::reactor* make_reactor(std::error_code& why) noexcept override;
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] bool owns_this_thread() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

    // Returns the loop whose run() or poll() the calling thread is in, or null.
    [[nodiscard]] static loop* current() noexcept;

    // Runs work and timers until stop() is called, or until the loop is closed and nothing is left to run. Blocks.
    void run() noexcept;
    // Runs what is ready without sleeping. Returns the number of bodies that ran; zero if nothing was ready. Ends when
    // everything that was ready at its start has run, even if bodies keep yielding or waking each other. The next call runs
    // the rest.
    std::size_t poll() noexcept;
    // Makes run() return after the current body. The next run() continues. Thread-safe.
    void stop() noexcept;
    // Refuses new work from other threads. run() returns when everything queued has run. Thread-safe.
    void close() noexcept;
    // Returns how many timers were still armed when the loop closed.
    [[nodiscard]] std::size_t timers_left() const noexcept { return timers_left_; }

    void set_blocking(ext::blocking_service* lane) noexcept { blocking_ = lane; }

private:
    friend class runtime;
    friend struct detail::runtime_access;
    [[gnu::noinline]] bool post_from_outside(ext::work& w) noexcept;
    ext::work* next() noexcept;
    ext::work* oldest() noexcept;
    void take_outside() noexcept;
    void enter() noexcept;
    void leave() noexcept;
    std::size_t run_some() noexcept;
    void sleep(std::uint32_t heard, time_point next_timer) noexcept;
    void poll_driver(ext::driver& in) noexcept;
    [[nodiscard]] bool is_anything_ready() const noexcept;

    detail::driver_seat seat_;
    detail::bell bell_;
    detail::posters posters_;
    detail::work_stack outside_;
    detail::work_ring ready_;
    ext::work_list yielded_;  // older than all of ready_
    detail::timer_shards timers_;
    detail::pulse pulse_;
    seam::atomic<bool> stop_{false};
    detail::pace pace_;
    const ext::work* poll_end_ = nullptr;  // queued by poll() behind what was ready at its start
    bool older_ready_ = false;
    bool slept_ = true;
    bool running_ = false;
    bool drives_ = false;  // the thread is inside the driver: its handlers run no bodies
    bool polls_ = false;  // at the end of the next round of bodies
    std::size_t timers_left_ = 0;
    ext::blocking_service* blocking_ = nullptr;
    detail::keeper* watcher_ = nullptr;
    detail::fork_check fork_;
    loop* outer_ = nullptr;
    std::string name_;
};

inline detail::pulse& detail::runtime_access::pulse_of(loop& of) noexcept { return of.pulse_; }
inline void detail::runtime_access::set_watcher(loop& of, keeper* watcher) noexcept { of.watcher_ = watcher; }

}  // namespace roost::inline ROOST_ABI
