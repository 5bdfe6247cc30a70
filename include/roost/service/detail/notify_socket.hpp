#pragma once

#include <roost/base/clock.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service::detail {

// The service manager's socket (sd_notify protocol), without its library. Never blocks; does nothing when nobody listens.
class notify_socket {
public:
    // address: what NOTIFY_SOCKET says: a path, or @name for the abstract namespace. Empty: nobody.
    explicit notify_socket(std::string_view address) noexcept;
    ~notify_socket();
    notify_socket(const notify_socket&) = delete;
    notify_socket& operator=(const notify_socket&) = delete;

    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
    // Lines "KEY=value", one datagram. Says whether it was taken.
    bool send(std::string_view lines) const noexcept;

private:
    int fd_ = -1;
    std::string address_;
};

// How often the service manager wants to hear WATCHDOG=1: half of WATCHDOG_USEC, when it is set for this process.
[[nodiscard]] std::optional<duration> watchdog_period(const char* usec, const char* pid, long own_pid) noexcept;

}  // namespace roost::inline ROOST_ABI::service::detail
