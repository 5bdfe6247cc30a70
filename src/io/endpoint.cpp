#include <roost/io/endpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::io {

namespace {

template <class Address>
Address read(const endpoint& e) noexcept {
    Address a{};
    std::memcpy(&a, e.data(), std::min(sizeof a, e.size()));
    return a;
}

template <class Address>
endpoint made_of(const Address& a) noexcept {
    return endpoint::from(reinterpret_cast<const sockaddr*>(&a), sizeof a);
}

bool parse_port(std::string_view text, std::uint16_t& port) noexcept {
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), port);
    return why == std::errc() && end == text.data() + text.size() && !text.empty();
}

// `path` begins with '@', in place of the zero byte.
result<endpoint> abstract_name(std::string_view path) noexcept {
    char name[sizeof(sockaddr_un::sun_path)] = "";
    path = path.substr(0, sizeof name);
    path.copy(name + 1, sizeof name - 1, 1);
    return endpoint::unix_path(std::string_view(name, path.size()));
}

bool has_ipv6() noexcept {
    static const bool is_there = [] {
        const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0) {
            ::close(fd);
        }
        return fd >= 0;
    }();
    return is_there;
}

}  // namespace

endpoint endpoint::from(const sockaddr* address, std::size_t size) noexcept {
    endpoint e;
    e.size_ = static_cast<std::uint8_t>(std::min(size, longest));
    std::memcpy(e.bytes_.data(), address, e.size_);
    return e;
}

endpoint endpoint::any(std::uint16_t port) noexcept {
    if (has_ipv6()) {
        sockaddr_in6 a{};
        a.sin6_family = AF_INET6;
        a.sin6_port = htons(port);
        a.sin6_addr = in6addr_any;
        return made_of(a);
    }
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    return made_of(a);
}

endpoint endpoint::loopback(std::uint16_t port) noexcept {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return made_of(a);
}

result<endpoint> endpoint::unix_path(std::string_view path) noexcept {
    sockaddr_un a{};
    const bool is_abstract = path.starts_with('\0');
    if (path.empty() || path.size() >= sizeof a.sun_path || (!is_abstract && path.find('\0') != std::string_view::npos)) {
        return {make_error_code(errc::no_address), "the path of a Unix socket"};
    }
    a.sun_family = AF_UNIX;
    std::memcpy(a.sun_path, path.data(), path.size());
    return result<endpoint>(std::in_place, from(reinterpret_cast<const sockaddr*>(&a),
                                                offsetof(sockaddr_un, sun_path) + path.size() + (is_abstract ? 0 : 1)));
}

result<endpoint> endpoint::parse(std::string_view text) noexcept {
    constexpr std::string_view unix_prefix = "unix:";
    if (text.starts_with(unix_prefix)) {
        const std::string_view path = text.substr(unix_prefix.size());
        return path.starts_with('@') ? abstract_name(path) : unix_path(path);
    }
    const std::size_t colon = text.rfind(':');
    std::uint16_t port = 0;
    std::string_view host = text.substr(0, std::min(colon, text.size()));
    char copy[INET6_ADDRSTRLEN + 1] = "";
    if (colon == std::string_view::npos || !parse_port(text.substr(colon + 1), port) || host.size() >= sizeof copy) {
        return {make_error_code(errc::no_address), "endpoint::parse"};
    }
    if (host == "*") {
        return result<endpoint>(std::in_place, any(port));
    }
    const bool is_v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    host = is_v6 ? host.substr(1, host.size() - 2) : host;
    host.copy(copy, sizeof copy - 1);
    sockaddr_in6 six{};
    sockaddr_in four{};
    if (is_v6 && ::inet_pton(AF_INET6, copy, &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(port);
        return result<endpoint>(std::in_place, made_of(six));
    }
    if (!is_v6 && ::inet_pton(AF_INET, copy, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(port);
        return result<endpoint>(std::in_place, made_of(four));
    }
    return {make_error_code(errc::no_address), "endpoint::parse"};
}

int endpoint::family() const noexcept { return size_ < sizeof(sa_family_t) ? AF_UNSPEC : read<sockaddr>(*this).sa_family; }

std::uint16_t endpoint::port() const noexcept {
    switch (family()) {
        case AF_INET: return ntohs(read<sockaddr_in>(*this).sin_port);
        case AF_INET6: return ntohs(read<sockaddr_in6>(*this).sin6_port);
        default: return 0;
    }
}

std::size_t endpoint::print(char* to, std::size_t room) const noexcept {
    char text[INET6_ADDRSTRLEN] = "";
    int length = 0;
    switch (family()) {
        case AF_INET: {
            const auto a = read<sockaddr_in>(*this);
            ::inet_ntop(AF_INET, &a.sin_addr, text, sizeof text);
            length = std::snprintf(to, room, "%s:%u", text, unsigned(port()));
            break;
        }
        case AF_INET6: {
            const auto a = read<sockaddr_in6>(*this);
            const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&a.sin6_addr);
            ::inet_ntop(is_mapped ? AF_INET : AF_INET6, a.sin6_addr.s6_addr + (is_mapped ? 12 : 0), text, sizeof text);
            length = std::snprintf(to, room, is_mapped ? "%s:%u" : "[%s]:%u", text, unsigned(port()));
            break;
        }
        case AF_UNIX: {
            const auto a = read<sockaddr_un>(*this);
            const std::size_t longest_name = size_ - offsetof(sockaddr_un, sun_path);
            const bool is_abstract = longest_name != 0 && a.sun_path[0] == '\0';
            const std::string_view name = is_abstract ? std::string_view(a.sun_path + 1, longest_name - 1)
                                                      : std::string_view(a.sun_path, ::strnlen(a.sun_path, longest_name));
            length = std::snprintf(to, room, is_abstract ? "unix:@%.*s" : "unix:%.*s", int(name.size()), name.data());
            break;
        }
        default: length = std::snprintf(to, room, "no address"); break;
    }
    return room == 0 ? 0 : std::min<std::size_t>(std::size_t(length), room - 1);
}

std::string endpoint::to_string() const {
    char text[longest + 16];
    return std::string(text, print(text, sizeof text));
}

bool operator==(const endpoint& a, const endpoint& b) noexcept {
    return a.size_ == b.size_ && std::memcmp(a.bytes_.data(), b.bytes_.data(), a.size_) == 0;
}

}  // namespace roost::inline ROOST_ABI::io
