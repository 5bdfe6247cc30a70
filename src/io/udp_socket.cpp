#include <roost/io/udp_socket.hpp>

#include <roost/io/detail/socket_operations.hpp>

#include <cerrno>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::io {

namespace {

using address_function = int (*)(int, const sockaddr*, socklen_t);

// Makes a socket for `address`, and binds or connects it.
result<detail::pollable_owner> make(const endpoint& address, address_function call, const char* what) noexcept {
    const int family = address.family();
    if (family != AF_INET && family != AF_INET6) {
        return {std::make_error_code(std::errc::address_family_not_supported), what};
    }
    const int fd = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return {std::error_code(errno, std::system_category()), what};
    }
    if (family == AF_INET6) {
        const int off = 0;
        ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (call(fd, address.data(), static_cast<socklen_t>(address.size())) != 0) {
        const int why = errno;
        ::close(fd);
        return {std::error_code(why, std::system_category()), what};
    }
    detail::pollable_owner owner = detail::own_socket(fd, call == &::bind ? detail::local_of(fd) : address, true);
    return owner ? result<detail::pollable_owner>(std::in_place, std::move(owner))
                 : result<detail::pollable_owner>(std::make_error_code(std::errc::not_enough_memory), what);
}

}  // namespace

result<udp_socket> udp_socket::bind(const endpoint& at) noexcept {
    result<detail::pollable_owner> made = make(at, &::bind, "udp_socket::bind");
    return made ? result<udp_socket>(std::in_place, udp_socket(std::move(*made)))
                : result<udp_socket>(made.code(), "udp_socket::bind");
}

result<udp_socket> udp_socket::connect(const endpoint& peer) noexcept {
    result<detail::pollable_owner> made = make(peer, &::connect, "udp_socket::connect");
    return made ? result<udp_socket>(std::in_place, udp_socket(std::move(*made)))
                : result<udp_socket>(made.code(), "udp_socket::connect");
}

result<> udp_socket::set_peer(const endpoint& peer) noexcept {
    constexpr const char* what = "udp_socket::set_peer";
    detail::pollable* const on = state_.get();
    if (on == nullptr || !on->enter()) {
        return {make_error_code(errc::closed), what};
    }
    const sockaddr none{};  // AF_UNSPEC
    const bool ends = peer.family() == AF_UNSPEC;
    const bool is_done = ::connect(on->native_handle(), ends ? &none : peer.data(),
                                   ends ? static_cast<socklen_t>(sizeof none) : static_cast<socklen_t>(peer.size())) == 0;
    const int why = is_done ? 0 : errno;
    on->leave();
    return is_done ? result<>(std::in_place) : result<>(std::error_code(why, std::system_category()), what);
}

endpoint udp_socket::local() const noexcept { return detail::local_of(native_handle()); }
endpoint udp_socket::peer() const noexcept { return detail::peer_of(native_handle()); }

}  // namespace roost::inline ROOST_ABI::io
