#include <roost/io/detail/socket_operations.hpp>

#include <roost/io/detail/fd_state.hpp>

#include <array>
#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::io::detail {

namespace {

using name_function = int (*)(int, sockaddr*, socklen_t*);

endpoint asked(name_function ask, int fd) noexcept {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    return ask(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0
               ? endpoint::from(reinterpret_cast<const sockaddr*>(&address), size)
               : endpoint();
}

// Small messages are sent at once: a service answers as soon as it can.
void set_no_delay(int fd, int family) noexcept {
    if (family == AF_INET || family == AF_INET6) {
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
}

}  // namespace

pollable_owner own_socket(int fd, const endpoint& label, bool is_ready) noexcept {
    fd_state* state = nullptr;
    try {
        state = fd_state::make(fd, fd_kind::socket, true, is_ready);
    } catch (...) {
        ::close(fd);
        return pollable_owner();
    }
    std::array<char, fd_state::name_size> text{};
    label.print(text.data(), text.size());
    state->set_label(text.data());
    return pollable_owner(state);
}

endpoint local_of(int fd) noexcept { return asked(&::getsockname, fd); }
endpoint peer_of(int fd) noexcept { return asked(&::getpeername, fd); }

bool connecting::open() noexcept {
    const int fd = ::socket(to_.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return fail(errno);
    }
    set_no_delay(fd, to_.family());
    const bool is_connected = ::connect(fd, to_.data(), static_cast<socklen_t>(to_.size())) == 0;
    // A Unix socket whose listener has no room says EAGAIN, and will not report when there is some.
    if (!is_connected && errno != EINPROGRESS) {
        const int why = errno;
        ::close(fd);
        return fail(why);
    }
    made_ = own_socket(fd, to_, is_connected);
    if (!made_) {
        return fail(ENOMEM);
    }
    set_object(made_.get());
    return false;
}

bool connecting::attempt(operation& self, readiness::snapshot) noexcept {
    auto& mine = static_cast<connecting&>(self);
    int why = 0;
    socklen_t size = sizeof why;
    const int fd = mine.on().native_handle();
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0) {
        return mine.fail(errno);
    }
    if (why != 0) {
        return mine.fail(why);
    }
    sockaddr_storage peer{};
    size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
        return errno != ENOTCONN && mine.fail(errno);
    }
    return true;
}

pollable_owner connecting::take() noexcept {
    made_.get()->at(direction::in).set(false);  // the first read is worth trying
    return std::move(made_);
}

// Without room for another descriptor the next accept() waits for a moment, so that a loop of accepts does not spin.
bool accepting::attempt(operation& self, readiness::snapshot) noexcept {
    auto& mine = static_cast<accepting&>(self);
    if (mine.on().take_pause()) {
        return false;
    }
    for (;;) {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        const int fd =
            ::accept4(mine.on().native_handle(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            const endpoint from = endpoint::from(reinterpret_cast<const sockaddr*>(&peer), size);
            set_no_delay(fd, from.family());
            mine.made_ = own_socket(fd, from.family() == AF_UNIX ? local_of(fd) : from, true);  // those peers have no name
            return mine.made_ || mine.fail(ENOMEM);
        }
        switch (errno) {
            case EAGAIN: return false;
            case EINTR:
            case ECONNABORTED:  // the peer of that connection has gone; there may be others
            case EPROTO: continue;
            case EMFILE:
            case ENFILE:
            case ENOBUFS:
            case ENOMEM: mine.on().pause(); [[fallthrough]];
            default: return mine.fail(errno);
        }
    }
}

result<pollable_owner> listen_on(const endpoint& at, const listen_settings& how) noexcept {
    const auto failed = [](int fd) {
        const int why = errno;
        if (fd >= 0) {
            ::close(fd);
        }
        return result<pollable_owner>(std::error_code(why, std::system_category()), "listen");
    };
    const int fd = ::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return failed(fd);
    }
    const int on = 1;
    const int off = 0;
    if (at.family() == AF_UNIX) {
        ::fchmod(fd, how.mode_);  // before bind(), which makes the file
    } else {
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (at.family() == AF_INET6) {
        ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (how.shares_port_) {
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    }
    if (::bind(fd, at.data(), static_cast<socklen_t>(at.size())) != 0 || ::listen(fd, how.backlog_) != 0) {
        return failed(fd);
    }
    pollable_owner owner = own_socket(fd, local_of(fd), true);
    return owner ? result<pollable_owner>(std::in_place, std::move(owner))
                 : result<pollable_owner>(std::make_error_code(std::errc::not_enough_memory), "listen");
}

}  // namespace roost::inline ROOST_ABI::io::detail
