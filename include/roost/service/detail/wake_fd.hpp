#pragma once

#include <roost/base/clock.hpp>

namespace roost::inline ROOST_ABI::service::detail {

// One thread sleeps, anybody rings, signal handlers included. Rings before a sleep end it at once; several are one.
class wake_fd {
public:
    wake_fd();  // std::system_error when there are no descriptors left
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
