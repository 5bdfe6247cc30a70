#include <roost/service/detail/notify_socket.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstring>

namespace roost::inline ROOST_ABI::service::detail {

namespace {

template <class Number>
std::optional<Number> number(const char* text) noexcept {
    if (text == nullptr) {
        return std::nullopt;
    }
    Number n{};
    const char* end = text + std::strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, n);
    return error == std::errc() && stopped == end ? std::optional<Number>(n) : std::nullopt;
}

}  // namespace

notify_socket::notify_socket(std::string_view address) noexcept {
    if (address.size() < 2 || address.size() >= sizeof(sockaddr_un::sun_path) ||
        (address.front() != '/' && address.front() != '@')) {
        return;
    }
    try {
        address_ = address;
    } catch (...) {
        return;
    }
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

notify_socket::~notify_socket() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

bool notify_socket::send(std::string_view lines) const noexcept {
    if (fd_ < 0) {
        return false;
    }
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, address_.data(), address_.size());
    if (to.sun_path[0] == '@') {
        to.sun_path[0] = '\0';
    }
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    const ssize_t n =
        ::sendto(fd_, lines.data(), lines.size(), MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size);
    return n == static_cast<ssize_t>(lines.size());
}

std::optional<duration> watchdog_period(const char* usec, const char* pid, long own_pid) noexcept {
    const auto period = number<std::int64_t>(usec);
    if (!period || *period <= 0 || *period > std::int64_t(1'000'000'000'000)) {
        return std::nullopt;
    }
    if (pid != nullptr && number<long>(pid) != own_pid) {
        return std::nullopt;
    }
    return std::chrono::microseconds(*period) / 2;
}

}  // namespace roost::inline ROOST_ABI::service::detail
