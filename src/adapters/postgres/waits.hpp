#pragma once

// The awaiters of the adapter while a connection is made: for a socket, and for a call on a side thread.

#include <roost/adapters/postgres/poller.hpp>
#include <roost/exec/resume.hpp>
#include <roost/sync/waiter.hpp>

#include "side_threads.hpp"

#include <coroutine>
#include <string>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

// A suspended coroutine and its executor.
class continuation {
public:
    continuation() noexcept = default;
    template <class Promise>
    explicit continuation(std::coroutine_handle<Promise> h) noexcept
        : executor(ext::executor_of(h)), frame_(h.address()), resume_(ext::resume_function_of<Promise>()) {}
    void resume() const noexcept { resume_(frame_); }
    void post(ext::work& w) const noexcept {
        if (executor) {
            ext::post_or_fall_back(executor, w, "a PostgreSQL connection");
        } else {
            w.run();
        }
    }

    executor_ref executor;

private:
    void* frame_ = nullptr;
    ext::resume_function resume_ = nullptr;
};

// co_await returns the socket's events; expired at the deadline, none if the socket cannot be watched.
class socket_wait final : private ext::work, private poller::entry {
public:
    socket_wait(const std::string& name, poller& in, int fd, std::uint32_t events, time_point deadline) noexcept;
    ~socket_wait();
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        next_ = continuation(h);
        return begin();
    }
    [[nodiscard]] std::uint32_t await_resume() noexcept;
    [[nodiscard]] bool try_cancel() noexcept;
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return {"postgres connect", std::string_view(name_)}; }

private:
    [[nodiscard]] bool begin() noexcept;

    const std::string& name_;
    poller& sockets_;
    int fd_;
    std::uint32_t events_;
    time_point deadline_;
    bool suspended_ = false;
    continuation next_;
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
class side_wait final : private ext::work, private poller::entry {
public:
    side_wait(const std::string& name, poller& sockets, std::shared_ptr<limited_call> call, time_point deadline) noexcept;
    ~side_wait();
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        next_ = continuation(h);
        return begin();
    }
    [[nodiscard]] bool await_resume() noexcept;
    // After the wait: there was no thread for the call until the deadline, and there never will be.
    [[nodiscard]] bool never_began() const noexcept { return never_began_; }
    // The call is abandoned.
    [[nodiscard]] bool try_cancel() noexcept;
    [[nodiscard]] ext::wait_target waits_on() const noexcept { return {"postgres connect", std::string_view(name_)}; }

private:
    friend class limited_call;
    [[nodiscard]] bool begin() noexcept;
    bool leave() noexcept;

    const std::string& name_;
    poller& sockets_;
    std::shared_ptr<limited_call> call_;
    time_point deadline_;
    bool suspended_ = false;
    bool never_began_ = false;
    continuation next_;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
