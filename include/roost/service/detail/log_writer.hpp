#pragma once

// The thread that calls the user's sink, so that no other thread waits for it. Whatever the sink does (a full pipe, a lock
// that is never released), write() returns.
//
// fields   queue_, pushed_, in_hand_, number_in_hand_, ending_: under lock_
// I1       the sink is called by the writer's thread alone, outside lock_

#include <roost/base/atomic.hpp>
#include <roost/service/detail/log_queue.hpp>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

class log_writer {
public:
    // With a null sink lines are discarded and there is no thread. Throws std::system_error without a thread,
    // std::bad_alloc.
    log_writer(log_sink sink, void* context, std::size_t bytes);
    ~log_writer();  // calls finish()
    log_writer(const log_writer&) = delete;
    log_writer& operator=(const log_writer&) = delete;

    // Never waits for the sink. After finish() the line is discarded. Thread-safe.
    void write(const log_line& line) noexcept;
    // Blocks until the sink has returned from every line that was written before, at most until the deadline. Returns true
    // if it has. Returns false at once on the writer's own thread, inside the sink.
    bool flush(time_point deadline) noexcept;
    // Blocks until the sink has returned from every line, and ends the thread.
    void finish() noexcept;

private:
    void run() noexcept;
    [[nodiscard]] bool is_written(std::uint64_t number) const noexcept;

    const log_sink sink_;
    void* const context_;
    log_queue queue_;
    const std::unique_ptr<char[]> line_;  // used by the writer
    os_mutex lock_;
    os_condvar news_;  // for the writer
    os_condvar written_;  // for flush()
    std::uint64_t pushed_ = 0;
    std::uint64_t number_in_hand_ = 0;
    bool in_hand_ = false;
    bool ending_ = false;
    thread thread_;
};

}  // namespace roost::inline ROOST_ABI::service::detail
