#pragma once

// The thread that is inside run(io, task), and how it learns that the task has ended when another thread of the context ran
// the last step.
//
// Why it is not simpler: Asio wakes any thread of a context, never a specific one. So the message is posted to the context
// again until the waiting thread receives it. Another thread that receives it stays away from the context's queue for a
// moment, so that the next post reaches a different one. After a few attempts a timer spaces them: the waiting thread is in
// a handler.
//
// Fields   phase_ under lock_; attempts_ and self_ belong to the one post or timer that is under way

#include <roost/asio/detail/net.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/base/atomic.hpp>
#include <roost/exec/timer.hpp>
#include <roost/exec/work.hpp>

#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

class run_wait : private ext::work, private ext::timer, public std::enable_shared_from_this<run_wait> {
public:
    // Called by the thread that will wait. Keeps the context at work until leave().
    explicit run_wait(net::io_context& io);
    run_wait(const run_wait&) = delete;
    run_wait& operator=(const run_wait&) = delete;

    // --- the waiting thread ------------------------------------------------------------------------------------------------
    // Returns true if the task has ended and its outcome can be read.
    [[nodiscard]] bool has_arrived() noexcept;
    // Called when the thread no longer waits.
    void leave() noexcept;

    // --- the ended task ------------------------------------------------------------------------------------------------------
    // Called once, by any thread, after the outcome was stored.
    void send() noexcept;

protected:
    ~run_wait() = default;

private:
    enum class phase : std::uint8_t { waiting, arrived, left };

    static void received(ext::work& self) noexcept;
    static void fired(ext::timer& self) noexcept;
    // Returns true if the waiting thread has left, or is the caller.
    [[nodiscard]] bool tell() noexcept;
    void post_again() noexcept;
    void stay_away() noexcept;

    io_executor* where_;
    net::executor_work_guard<net::io_context::executor_type> at_work_;
    std::uint32_t waiting_thread_;
    small_mutex lock_;
    phase phase_ = phase::waiting;
    unsigned attempts_ = 0;
    std::shared_ptr<run_wait> self_;  // while a post is under way
};

}  // namespace roost::inline ROOST_ABI::detail
