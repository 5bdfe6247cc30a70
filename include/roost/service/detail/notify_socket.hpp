#pragma once

#include <roost/base/clock.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service::detail {

// The service manager's socket (sd_notify protocol), without its library. Never blocks. Does nothing without a listener.
class notify_socket {
public:
    // address is the value of NOTIFY_SOCKET: a path, or @name for the abstract namespace. Empty: no manager.
    explicit notify_socket(std::string_view address) noexcept;
    ~notify_socket();
    notify_socket(const notify_socket&) = delete;
    notify_socket& operator=(const notify_socket&) = delete;

    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
    // Sends lines "KEY=value" as one datagram. Returns true if it was accepted.
    bool send(std::string_view lines) const noexcept;

private:
    int fd_ = -1;
    std::string address_;
};

// Returns how often the service manager expects WATCHDOG=1: half of WATCHDOG_USEC, if that is set for this process.
[[nodiscard]] std::optional<duration> watchdog_period(const char* usec, const char* pid, long own_pid) noexcept;

}  // namespace roost::inline ROOST_ABI::service::detail
