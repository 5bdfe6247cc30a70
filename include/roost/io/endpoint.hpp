#pragma once

// An address of a socket: IPv4 or IPv6 with a port, or the path of a Unix socket.
//
//   io::endpoint::parse("127.0.0.1:8080")    also "[::1]:8080", "*:8080" (every address of this machine), "unix:/run/app.sock",
//                                            and "unix:@app" (an abstract name)

#include <roost/io/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct sockaddr;

namespace roost::inline ROOST_ABI::io {

class endpoint {
public:
    // An empty endpoint: no address. Its family is AF_UNSPEC.
    endpoint() noexcept = default;
    // Returns errc::no_address if the text is no address. For names see resolve().
    [[nodiscard]] static result<endpoint> parse(std::string_view text) noexcept;
    // Every address of this machine: IPv6, which includes IPv4; IPv4 alone where the kernel has no IPv6.
    [[nodiscard]] static endpoint any(std::uint16_t port) noexcept;
    // 127.0.0.1.
    [[nodiscard]] static endpoint loopback(std::uint16_t port) noexcept;
    // Returns errc::no_address if the path is empty, or longer than the kernel allows (107 bytes). A path that begins with a
    // zero byte is an abstract name.
    [[nodiscard]] static result<endpoint> unix_path(std::string_view path) noexcept;
    // Copies an address of the system.
    [[nodiscard]] static endpoint from(const sockaddr* address, std::size_t size) noexcept;

    // Returns AF_INET, AF_INET6, AF_UNIX, or AF_UNSPEC for an empty endpoint.
    [[nodiscard]] int family() const noexcept;
    // Returns 0 if it is neither IPv4 nor IPv6.
    [[nodiscard]] std::uint16_t port() const noexcept;
    // Returns the text that parse() reads; "no address" if it is empty.
    [[nodiscard]] std::string to_string() const;
    // Writes the text of to_string() and a zero byte, at most `room` bytes in all. Returns the length of the text. Allocates
    // nothing.
    std::size_t print(char* to, std::size_t room) const noexcept;

    // For the calls of the system.
    [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(bytes_.data()); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    friend bool operator==(const endpoint& a, const endpoint& b) noexcept;

private:
    static constexpr std::size_t longest = 112;  // of the kernel's addresses: a Unix path
    alignas(8) std::array<unsigned char, longest> bytes_{};
    std::uint8_t size_ = 0;
};

}  // namespace roost::inline ROOST_ABI::io
