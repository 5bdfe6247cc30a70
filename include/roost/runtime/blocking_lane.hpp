#pragma once

#include <roost/base/site.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/runtime/detail/fork_check.hpp>
#include <roost/runtime/detail/forward.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace observe {

// One item of a lane's work: what a thread runs, or what is queued.
class lane_entry {
public:
    enum class state : std::uint8_t {
        running,
        waits_for_task,  // running, and blocked in block_on() or the like
        ending,  // has run; the destructors of its thread's thread-locals are running
        queued,  // has not started
    };
    lane_entry(state how, std::string name, roost::site where, duration age)
        : name_(std::move(name)), where_(where), age_(age), how_(how) {}
    [[nodiscard]] state how() const noexcept { return how_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }  // of the job that submitted it; may be empty
    [[nodiscard]] roost::site site() const noexcept { return where_; }
    [[deprecated("use site()")]] [[nodiscard]] roost::site where() const noexcept { return site(); }
    [[nodiscard]] duration age() const noexcept { return age_; }  // since its start; ending: since its return; queued: 0
    // For example: blocking function of 'load' (main.cpp:7), running for 12 s
    [[nodiscard]] std::string to_string() const;

private:
    std::string name_;
    roost::site where_;
    duration age_;
    state how_;
};

}  // namespace observe

// Threads for work that blocks. The lane starts a thread when one is needed, at most `limit`, and ends it after `keep_idle`
// without work. Further work waits in a FIFO queue and can be withdrawn until it starts. All threads may wait for tasks,
// with block_on() inside blocking(). If work is queued then, the lane starts more threads, one at a time. It logs that once.
class blocking_lane final : public ext::blocking_service {
public:
    // How long close() waits for work that does not end, counted from the end of the last work that did.
    static constexpr duration default_patience = std::chrono::seconds(10);

    explicit blocking_lane(std::size_t limit = 64, std::string_view name = "blocking",
                           duration keep_idle = std::chrono::seconds(5));
    // Calls close() and prints to standard error what it abandons.
    ~blocking_lane();

    bool submit(ext::blocking_work& w) noexcept override;
    bool withdraw(ext::blocking_work& w) noexcept override;

    // Refuses new work, runs what is queued, and returns when every thread has ended. Blocks. If no work ends for
    // `patience`, abandons the remaining threads and returns them. An abandoned thread ends when its work returns. It does
    // not resume the coroutine that submitted the work. Work that is still queued is returned as well; it never runs. Ends
    // the program on a thread of the lane.
    std::vector<observe::lane_entry> close(duration patience = default_patience) noexcept;

    // Returns what the threads run, for reports. Throws std::bad_alloc.
    [[nodiscard]] std::vector<observe::lane_entry> running() const;

    // Called by work on a lane's thread before it delivers its result to an executor or frees its owner. Returns false if
    // the lane has abandoned the work: its owner may be destroyed. Always returns true on other threads.
    [[nodiscard]] static bool may_deliver() noexcept;
    // Called first by the code that uses the result. On a thread of a lane it ends what may_deliver() began. From then on,
    // close() waits for that code as for any work. Does nothing on other threads.
    static void has_delivered() noexcept;

    // Returns true if the caller runs on one of the lane's threads.
    [[nodiscard]] bool is_here() const noexcept;
    [[nodiscard]] std::size_t threads() const noexcept;
    [[nodiscard]] std::size_t queued() const noexcept;
    [[nodiscard]] std::size_t busy() const noexcept;  // threads that run work
    [[nodiscard]] std::string_view name() const noexcept;

private:
    std::shared_ptr<detail::lane_core> core_;  // shared with the threads: abandoned ones outlive the lane
    detail::fork_check fork_;
};

}  // namespace roost::inline ROOST_ABI
