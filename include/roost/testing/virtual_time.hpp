#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/exec/detail/bell.hpp>
#include <roost/exec/detail/timer_wheel.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/timer.hpp>
#include <roost/testing/names.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI::testkit {

// A runtime for tests: one thread, an order chosen by a seed, and a virtual clock. The clock stands still while anything can
// run, and jumps to the next deadline when everything is blocked. An hour of sleeping takes microseconds. The same seed
// repeats the same run: the order of bodies, and their random numbers (jitter, a fair select). post(), arm() and disarm()
// are thread-safe; run() and the other functions that run work belong to one thread.
class virtual_time final : public executor, public ext::timer_service, public ext::blocking_service {
public:
    // Seed 0 runs work in the order of posting; any other seed shuffles neighbours.
    explicit virtual_time(std::uint64_t seed = 0, std::string_view name = "virtual time");
    // Ends the program with the leak report unless everything has run and no timer is armed.
    ~virtual_time();

    // --- for the code under test ---
    bool post(ext::work& w) noexcept override;
    ext::timer_service* timers() noexcept override { return this; }
    ext::blocking_service* blocking() noexcept override { return this; }
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] time_point now() noexcept override;
    bool arm(ext::timer& t) noexcept override;
    bool disarm(ext::timer& t) noexcept override;
    bool submit(ext::blocking_work& w) noexcept override;  // on a thread of its own; time stands still until it has run
    bool withdraw(ext::blocking_work& w) noexcept override;

    // --- for the test ---
    // Runs until everything is blocked for ever: nothing to run, no timer armed, no blocking work. Returns the number of
    // bodies.
    std::size_t run() noexcept;
    // Runs until `done()` returns true. Returns false if everything is blocked for ever before that.
    template <class Done>
    bool run_until(Done done) {
        for (std::uint32_t heard = bell_.listen(); !done(); heard = bell_.listen()) {
            if (!run_one() && !wait_or_jump(heard)) {
                return false;
            }
        }
        return true;
    }
    // Runs until everything is blocked, without moving the clock. Returns the number of bodies that ran.
    std::size_t run_ready() noexcept;
    // Moves the clock forward by d. Stops at every deadline on the way until everything is blocked and no blocking work
    // runs.
    void advance(duration d) noexcept;
    // Moves the clock forward by d at once, as after a suspended machine. Timers due in between fire late, never early.
    void skip(duration d) noexcept;

    // While one of these lives, the virtual clock stands still. For work on other threads.
    class standstill {
    public:
        explicit standstill(virtual_time& of) noexcept : of_(&of) { of_->change_outside(1); }
        standstill(const standstill&) = delete;
        standstill& operator=(const standstill&) = delete;
        ~standstill() { of_->change_outside(-1); }

    private:
        virtual_time* of_;
    };

    // Refuses new posts, timers and blocking work.
    void close() noexcept;
    [[nodiscard]] std::size_t armed_timers() const noexcept;
    [[nodiscard]] std::size_t pending_work() const noexcept;
    // Returns what is left, in one sentence, followed by the reporters' texts; empty if nothing is left.
    [[nodiscard]] std::string leaks() const;
    // Adds a check for the end of the test. `left` returns a text if anything is left: see watch() in
    // testing/suspended.hpp.
    void add_reporter(std::function<std::string()> left);

private:
    struct exact {  // nanoseconds, so that the clock shows the very deadline when a timer fires
        static constexpr unsigned tick_bits = 0;
        static constexpr unsigned digit_bits = 6;
        static constexpr unsigned levels = 11;
    };
    using wheel = detail::timer_wheel<exact>;
    struct helper;

    bool wait_or_jump(std::uint32_t heard) noexcept;
    void settle() noexcept;
    bool run_one() noexcept;
    ext::work* pick() noexcept;
    bool fire_one() noexcept;
    bool jump() noexcept;
    void set_now(time_point t) noexcept;
    [[nodiscard]] bool is_outside_busy() const noexcept;
    void change_outside(int by) noexcept;
    void run_blocking(helper& h) noexcept;
    void join_helpers(bool all) noexcept;
    [[nodiscard]] std::string own_leaks() const;

    mutable seam::small_mutex lock_;
    bool closed_ = false;
    std::size_t pending_ = 0;
    std::size_t armed_ = 0;
    int outside_ = 0;
    ext::work* first_ = nullptr;
    ext::work* last_ = nullptr;
    wheel wheel_;
    ext::timer* firing_ = nullptr;
    std::uint32_t firing_thread_ = 0;
    helper* helpers_ = nullptr;
    std::uint64_t random_;
    std::uint64_t draws_;  // state of the random numbers for bodies
    std::uint64_t submitted_ = 0;
    seam::atomic<std::uint32_t> rounds_{0};
    detail::bell bell_;
    seam::atomic<duration::rep> now_;
    std::string name_;
    std::vector<std::function<std::string()>> reporters_;
};

}  // namespace roost::inline ROOST_ABI::testkit
