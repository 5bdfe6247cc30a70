#pragma once

// The awaiters of the adapter while a connection is made: for a socket, and for a call on a side thread.

#include "event_wait.hpp"
#include "side_threads.hpp"

#include <string>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

// co_await returns the socket's events; expired at the deadline, refused if the socket cannot be watched.
class socket_wait final : private event_wait {
public:
    using event_wait::expired;
    using event_wait::readable;
    using event_wait::refused;
    using event_wait::why_refused;
    using event_wait::writable;

    socket_wait(const std::string& name, poller& shared, io::descriptor& socket, std::uint32_t events,
                time_point deadline) noexcept;
    ~socket_wait();
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        bind(continuation(h));
        return suspend();
    }
    [[nodiscard]] std::uint32_t await_resume() noexcept;
    [[nodiscard]] bool try_cancel() noexcept;
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return {"postgres connect", std::string_view(name_)}; }

private:
    [[nodiscard]] bool suspend() noexcept;

    const std::string& name_;
    io::descriptor& socket_;
    std::uint32_t events_;
    time_point deadline_;
    bool suspended_ = false;
};

class side_wait;

// A call whose waiter has a deadline. Its result is read after the wait, if it has returned.
class limited_call : public side_call {
public:
    using side_call::side_call;

private:
    friend class side_wait;
    void returned() noexcept final;

    small_mutex lock_;
    side_wait* waiter_ = nullptr;  // under the lock
    bool has_returned_ = false;    // under the lock
};

// co_await returns true if the call has returned; false at the deadline, or if no thread can be started.
class side_wait final : private event_wait {
public:
    side_wait(const std::string& name, poller& shared, std::shared_ptr<limited_call> call, time_point deadline) noexcept;
    ~side_wait();
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        bind(continuation(h));
        return suspend();
    }
    [[nodiscard]] bool await_resume() noexcept;
    // After the wait: there was no thread for the call until the deadline, and there never will be.
    [[nodiscard]] bool never_began() const noexcept { return never_began_; }
    // The call is abandoned.
    [[nodiscard]] bool try_cancel() noexcept;
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return {"postgres connect", std::string_view(name_)}; }

private:
    friend class limited_call;
    [[nodiscard]] bool suspend() noexcept;
    bool leave() noexcept;

    const std::string& name_;
    poller& shared_;
    std::shared_ptr<limited_call> call_;
    time_point deadline_;
    bool suspended_ = false;
    bool never_began_ = false;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
