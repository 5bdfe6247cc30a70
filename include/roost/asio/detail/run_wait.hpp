#pragma once

// The thread that is inside run(io, task), and how it notices that the task has ended when another thread of the context ran
// the last step.
//
// Why it is not simpler: Asio wakes some thread of a context, never a certain one. So the news is posted to the context again
// until the waiting thread has it. A thread that receives it in vain stays away from the context's queue for a moment, so
// that another one takes the next post. After a few attempts a timer spaces them: the waiting thread is busy in a handler then.
//
// Fields   phase_ with the lock; attempts_ and self_ belong to the one post or timer that is under way

#include <roost/asio/io_executor.hpp>
#include <roost/base/atomic.hpp>
#include <roost/exec/timer.hpp>
#include <roost/exec/work.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

class run_wait : private work, private timer, public std::enable_shared_from_this<run_wait> {
public:
    // Called by the thread that will wait. Keeps the context at work until leave().
    explicit run_wait(boost::asio::io_context& io);
    run_wait(const run_wait&) = delete;
    run_wait& operator=(const run_wait&) = delete;

    // --- the waiting thread ------------------------------------------------------------------------------------------------
    // True: the task has ended, and its outcome can be read.
    [[nodiscard]] bool has_arrived() noexcept;
    // The thread waits no more.
    void leave() noexcept;

    // --- the ended task ------------------------------------------------------------------------------------------------------
    // Once, from any thread, after the outcome was kept.
    void send() noexcept;

protected:
    ~run_wait() = default;

private:
    enum class phase : std::uint8_t { waiting, arrived, left };

    static void received(work& self) noexcept;
    static void fired(timer& self) noexcept;
    // Returns true if the waiting thread knows, or runs this itself.
    [[nodiscard]] bool tell() noexcept;
    void post_again() noexcept;
    void stay_away() noexcept;

    io_executor* where_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> at_work_;
    std::uint32_t waiting_thread_;
    small_mutex lock_;
    phase phase_ = phase::waiting;
    unsigned attempts_ = 0;
    std::shared_ptr<run_wait> self_;  // while a post is under way
};

}  // namespace roost::inline ROOST_ABI::detail
