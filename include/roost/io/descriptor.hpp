#pragma once

// A file descriptor whose events can be waited for: a socket of another library, a pipe, an eventfd, a signalfd, inotify.
//
//   io::descriptor events(::eventfd(0, EFD_CLOEXEC));
//   co_await events.readable();
//   std::uint64_t count = 0;
//   ::read(events.native_handle(), &count, sizeof count);
//
// readable() and writable() complete when a call would not block. They are clauses of select. They read nothing, so any number
// of tasks may wait for one descriptor. If another task was faster, the call fails with EAGAIN; then wait again.
//
// Resumes: on the coroutine's executor, which needs a driver: a runtime or a loop has one.
// Cancelled: the wait ends, and the descriptor is as before.
// Closed: by close(), or by the destructor. Each wait then completes with errc::closed. The number is given back to the
//         kernel when the last wait or operation has noticed.

#include <roost/base/time_limit.hpp>
#include <roost/io/detail/ready_source.hpp>

namespace roost::inline ROOST_ABI::io {

using detail::direction;

class descriptor {
public:
    using operation = detail::ready_operation;

    descriptor() noexcept = default;
    // Takes ownership, and sets O_NONBLOCK. Throws std::system_error if that fails, or std::bad_alloc. In both cases it closes
    // fd.
    explicit descriptor(int fd);
    // For a descriptor that another owner closes, for example that of a client library. Close this object before that owner
    // closes the descriptor, or call close_after_owner(). Requires that no other open object of this layer uses fd: only one
    // of them would get its events. Throws std::bad_alloc.
    [[nodiscard]] static descriptor borrow(int fd);

    [[nodiscard("it waits only when it is awaited: write co_await")]] operation readable() noexcept {
        return operation(detail::ready_source(state_.get(), direction::in));
    }
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation writable() noexcept {
        return operation(detail::ready_source(state_.get(), direction::out));
    }
    // Each blocks the calling thread. Returns false if the deadline passed, or the descriptor was closed.
    [[nodiscard]] bool readable_blocking(time_limit deadline = no_deadline) noexcept {
        return wait_blocking(direction::in, deadline);
    }
    [[nodiscard]] bool writable_blocking(time_limit deadline = no_deadline) noexcept {
        return wait_blocking(direction::out, deadline);
    }
    // Wakes every wait. Does nothing if it is closed.
    void close() noexcept { state_.close(); }
    // As close(), for a borrowed descriptor that its owner has closed already. Its number may belong to another file by now, so
    // no system call uses it.
    void close_after_owner() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return state_.is_open(); }
    // Returns -1 if it is closed.
    [[nodiscard]] int native_handle() const noexcept { return state_.native_handle(); }

private:
    explicit descriptor(detail::pollable* state) noexcept : state_(state) {}
    [[nodiscard]] bool wait_blocking(direction d, time_point deadline) noexcept;

    detail::pollable_owner state_;
};

}  // namespace roost::inline ROOST_ABI::io
