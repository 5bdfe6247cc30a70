#pragma once

#include <roost/base/site.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/runtime/detail/fork_check.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {
class lane_core;
}

// What a thread of a lane is busy with, or what waits for one.
class lane_entry {
public:
    enum class state : std::uint8_t {
        running,
        waits_for_task,  // runs, inside block_on() or the like
        ending,          // has run; the destructors of its thread's thread-locals run
        queued,          // has not begun
    };
    lane_entry(state how, std::string name, site where, duration age)
        : name_(std::move(name)), where_(where), age_(age), how_(how) {}
    [[nodiscard]] state how() const noexcept { return how_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }  // of the job that asked for it; may be empty
    [[nodiscard]] site where() const noexcept { return where_; }
    [[nodiscard]] duration age() const noexcept { return age_; }  // since it began
    // For example: blocking function of 'load' (main.cpp:7), running for 12 s
    [[nodiscard]] std::string to_string() const;

private:
    std::string name_;
    site where_;
    duration age_;
    state how_;
};

// Threads for work that blocks: at most `limit` of them, made when needed, ended when not needed for a while. What does not
// fit waits in a queue, first in, first out, and can be withdrawn until it starts. When all of them wait for tasks
// (block_on() inside blocking()) while work is queued, the lane starts further ones, one at a time, and says so once.
class blocking_lane final : public blocking_service {
public:
    // How long close() waits for work that does not end, counted from the last work that did.
    static constexpr duration default_patience = std::chrono::seconds(10);

    explicit blocking_lane(std::size_t limit = 64, std::string_view name = "blocking",
                           duration keep_idle = std::chrono::seconds(5));
    // close(). What it abandons is named on standard error.
    ~blocking_lane();

    bool submit(blocking_work& w) noexcept override;
    bool withdraw(blocking_work& w) noexcept override;

    // Takes no more; what is queued still runs; returns when every thread has ended. If none has ended its work for as long as
    // `patience`, the threads that are left are abandoned and returned: each ends when its work returns, without resuming the
    // coroutine that asked for it. So is work that is still queued; it never runs. Not from a thread of the lane.
    std::vector<lane_entry> close(duration patience = default_patience) noexcept;

    // What its threads are busy with now, for reports. Throws std::bad_alloc.
    [[nodiscard]] std::vector<lane_entry> running() const;

    // Called on a thread of a lane by work that is about to hand its result to an executor or to free what it belongs to. False:
    // the lane has abandoned the work, and what it belongs to may be gone. True on other threads.
    [[nodiscard]] static bool may_deliver() noexcept;
    // Called where that result is used, as its first act. On a thread of a lane it ends what may_deliver() began: close() waits
    // for what follows no longer than for any work. Does nothing on other threads.
    static void has_delivered() noexcept;

    // Whether the caller runs on one of its threads.
    [[nodiscard]] bool is_here() const noexcept;
    [[nodiscard]] std::size_t threads() const noexcept;
    [[nodiscard]] std::size_t queued() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;

private:
    std::shared_ptr<detail::lane_core> core_;  // shared with its threads: abandoned ones outlive the lane
    detail::fork_check fork_;
};

}  // namespace roost::inline ROOST_ABI
