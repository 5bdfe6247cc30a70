#pragma once

#include <roost/runtime/detail/doze.hpp>
#include <roost/runtime/detail/pulse.hpp>
#include <roost/runtime/detail/timer_shards.hpp>
#include <roost/runtime/overrun.hpp>

#include <memory>
#include <string>
#include <vector>

// The one thread of a runtime that runs no work. It fires timers. While anything runs, it checks every few milliseconds
// whether a worker is still in the same body. It sleeps while no timer is armed and nothing runs.
//
// id  operation                 order    pairs  carries                                                   fails in
// K3  stop: stopping_ store     relaxed  K4     nothing: the bell carries it                              (floor)
// K4  run: stopping_ load       relaxed  K3     nothing: as K3                                            (floor)

namespace roost::inline ROOST_ABI::detail {

class scheduler;

class keeper {
public:
    struct options {
        std::string name;
        duration soft_budget{0};  // zero: no reports
        observe::overrun_function on_overrun = nullptr;  // null: one line to stderr
        void* context = nullptr;
    };

    explicit keeper(options o);
    ~keeper();  // calls stop()
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    [[nodiscard]] timer_shards& timers() noexcept { return timers_; }

    // Requires that start() was not called yet. `rescued` may be null.
    void watch(pulse& p, scheduler* rescued = nullptr);
    void start();  // throws std::system_error
    void stop() noexcept;

    // Returns true inside a timer's function or a report.
    [[nodiscard]] bool is_here() const noexcept;

    // Called by a worker that begins its first body after a sleep.
    void started() noexcept {
        if (doze_.is_on()) {
            bell_.ring();
        }
    }

private:
    struct watched {
        pulse* of;
        std::uint64_t beat = 0;
        time_point since{};
        bool reported = false;
    };

    void run() noexcept;
    time_point look(time_point now) noexcept;
    bool sample(time_point now) noexcept;
    void report(watched& w, unsigned index, time_point now) noexcept;
    void say(const observe::overrun& what) const noexcept;

    options options_;
    std::string thread_name_;
    bell bell_;
    timer_shards timers_;
    std::vector<watched> watched_;
    std::unique_ptr<std::uint64_t[]> beats_;
    scheduler* rescued_ = nullptr;
    duration period_{};
    time_point next_look_ = time_point::min();
    unsigned quiet_looks_ = 0;
    doze doze_;
    atomic<bool> stopping_{false};
    thread thread_;
};

}  // namespace roost::inline ROOST_ABI::detail
