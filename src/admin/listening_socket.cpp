#include <roost/admin/detail/listening_socket.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace roost::inline ROOST_ABI::admin::detail {

namespace {

// Only the owner's programs connect to a Unix socket.
constexpr unsigned socket_mode = 0600;

std::optional<int> number_in(std::string_view text) noexcept {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
    return whole ? std::optional<int>(number) : std::nullopt;
}

[[noreturn]] void refuse(std::error_code why, const std::string& text) {
    throw std::system_error(why, "cannot listen on '" + text + "'");
}

io::result<io::endpoint> parse(const std::string& text) noexcept {
    const std::optional<int> port = number_in(text);
    if (port && *port <= std::numeric_limits<std::uint16_t>::max()) {
        return io::result<io::endpoint>(std::in_place, io::endpoint::loopback(static_cast<std::uint16_t>(*port)));
    }
    return io::endpoint::parse(text);
}

}  // namespace

listening_socket::listening_socket(const http_address& at) {
    const std::string& text = at.text();
    if (text.starts_with("fd:")) {
        const std::optional<int> descriptor = number_in(std::string_view(text).substr(3));
        if (!descriptor) {
            refuse(std::make_error_code(std::errc::invalid_argument), text);
        }
        inherit(*descriptor, text);
        return;
    }
    const auto where = parse(text);
    if (!where) {
        refuse(std::make_error_code(std::errc::invalid_argument), text);
    }
    bind(*where, text);
}

void listening_socket::bind(const io::endpoint& at, const std::string& text) {
    if (at.family() == AF_UNIX) {
        auto made = io::unix_listener::bind(at, io::listen_options().mode(socket_mode));
        if (!made) {
            refuse(made.code(), text);
        }
        unix_ = *std::move(made);
        fd_ = unix_.native_handle();
        name_ = unix_.local().to_string();
        return;
    }
    auto made = io::tcp_listener::bind(at);
    if (!made) {
        refuse(made.code(), text);
    }
    tcp_ = *std::move(made);
    fd_ = tcp_.native_handle();
    name_ = tcp_.local().to_string();
    port_ = tcp_.local().port();
}

void listening_socket::inherit(int descriptor, const std::string& text) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0) {
        refuse(std::error_code(errno, std::system_category()), text);
    }
    if (listens == 0) {
        refuse(std::make_error_code(std::errc::invalid_argument), text);
    }
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
        const io::endpoint local = io::endpoint::from(reinterpret_cast<const sockaddr*>(&address), length);
        port_ = local.port();
        name_ = local.to_string();
    }
    const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || ::fcntl(copy, F_SETFL, ::fcntl(copy, F_GETFL) | O_NONBLOCK) != 0) {
        const int why = errno;
        if (copy >= 0) {
            ::close(copy);
        }
        refuse(std::error_code(why, std::system_category()), text);
    }
    inherited_ = fd_ = copy;
}

int listening_socket::accept() const noexcept { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }

void listening_socket::close() noexcept {
    fd_ = -1;
    tcp_.close();
    unix_.close();
    if (inherited_ >= 0) {
        ::close(std::exchange(inherited_, -1));
    }
}

}  // namespace roost::inline ROOST_ABI::admin::detail
