#pragma once

#include <roost/base/clock.hpp>

namespace roost::inline ROOST_ABI::service::detail {

// One thread sleeps; any thread and any signal handler may ring. A ring before a sleep ends it at once; several count as
// one.
class wake_fd {
public:
    wake_fd();  // throws std::system_error without a descriptor
    ~wake_fd();
    wake_fd(const wake_fd&) = delete;
    wake_fd& operator=(const wake_fd&) = delete;

    void ring() const noexcept { ring(fd_); }
    static void ring(int fd) noexcept;  // async-signal-safe
    void sleep_until(time_point deadline) const noexcept;
    [[nodiscard]] int fd() const noexcept { return fd_; }

private:
    int fd_;
};

}  // namespace roost::inline ROOST_ABI::service::detail
