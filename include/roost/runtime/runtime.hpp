#pragma once

#include <roost/exec/driver.hpp>
#include <roost/exec/executor.hpp>
#include <roost/runtime/blocking_lane.hpp>
#include <roost/runtime/overrun.hpp>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

class runtime_options {
public:
    using overrun_function = observe::overrun_function;

    constexpr runtime_options() noexcept = default;

    constexpr runtime_options& workers(unsigned count) noexcept { return workers_ = count, *this; }
    constexpr runtime_options& name(std::string_view text) noexcept { return name_ = text, *this; }
    constexpr runtime_options& blocking_threads(std::size_t limit) noexcept { return blocking_ = limit, *this; }
    constexpr runtime_options& blocking_patience(duration limit) noexcept { return blocking_patience_ = limit, *this; }
    // A driver instead of epoll, for example ext::asio_driver. It must outlive the runtime, which closes it at its end. So it
    // serves one runtime only.
    constexpr runtime_options& driver(ext::driver& own) noexcept { return driver_ = &own, *this; }
    constexpr runtime_options& soft_budget(duration budget) noexcept { return soft_budget_ = budget, *this; }
    constexpr runtime_options& on_overrun(overrun_function f, void* context = nullptr) noexcept {
        return on_overrun_ = f, overrun_context_ = context, *this;
    }
    [[nodiscard]] constexpr bool has_on_overrun() const noexcept { return on_overrun_ != nullptr; }

private:
    friend class runtime;
    unsigned workers_ = 0;
    std::string_view name_ = "runtime";
    std::size_t blocking_ = 64;
    duration blocking_patience_ = blocking_lane::default_patience;
    ext::driver* driver_ = nullptr;
    duration soft_budget_ = std::chrono::milliseconds(100);
    overrun_function on_overrun_ = nullptr;
    void* overrun_context_ = nullptr;
};

// What a runtime left unfinished when it ended: armed timers, and blocking functions that had not ended or not begun. All
// other queued work has run.
class runtime_ending {
public:
    runtime_ending() noexcept = default;
    runtime_ending(std::size_t timers, std::vector<observe::lane_entry> abandoned) noexcept
        : timers_(timers), abandoned_(std::move(abandoned)) {}
    // Returns the number of timers that were still armed. They never fire.
    [[nodiscard]] std::size_t timers_left() const noexcept { return timers_; }
    // Returns the blocking functions that did not end within the runtime's patience, and those queued behind them. Their
    // threads are detached, and the results of the functions are dropped.
    [[nodiscard]] const std::vector<observe::lane_entry>& abandoned() const& noexcept { return abandoned_; }
    const std::vector<observe::lane_entry>& abandoned() const&& = delete;  // the entries are part of this object

private:
    std::size_t timers_ = 0;
    std::vector<observe::lane_entry> abandoned_;
};

// Threads that run work: a work-stealing executor, timers, a blocking lane, and a watcher. With one worker the executor is a
// loop on its own thread. The watcher reports bodies that run for longer than the soft budget without suspending.
//
//   workers            number of worker threads, at most 32 767; 0: usable_cpus()
//   blocking_threads   most threads of the blocking lane; they are started when needed
//   blocking_patience  how long shut_down() waits for blocking functions while none of them ends; default 10 s
//   soft_budget        0: no reports
//
// The runtime must outlive everything that runs on it. Any thread but its own may destroy it as soon as that work has ended.
// The destructor waits for threads inside post(). A forked child may destroy it; post() and shut_down() end the child.
class runtime {
public:
    // Throws std::system_error if a thread cannot be started, or if there are too many workers.
    explicit runtime(const runtime_options& options = runtime_options(), site made_at = std::source_location::current());
    ~runtime();  // calls shut_down() and prints to standard error what it abandons
    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    [[nodiscard]] executor& get_executor() noexcept;
    [[nodiscard]] explicit(false) operator executor_ref() noexcept { return get_executor(); }
    [[nodiscard]] ext::timer_service& timers() noexcept;
    [[nodiscard]] blocking_lane& blocking() noexcept;
    [[nodiscard]] unsigned workers() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;

    bool post(ext::work& w) noexcept { return get_executor().post(w); }

    // Ends the runtime. First waits for blocking functions, at most blocking_patience without progress. Then no timer fires any
    // more. Then refuses work from other threads, runs what is queued, and joins the workers. Blocks. A call on a thread of the
    // runtime ends the program. A second call blocks until the first has ended, and returns an empty runtime_ending.
    runtime_ending shut_down();

    // Returns the index of the worker that the caller runs on, or no_worker. For striping by worker.
    static constexpr unsigned no_worker = ~0U;
    [[nodiscard]] static unsigned this_worker() noexcept;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace roost::inline ROOST_ABI
