#pragma once

// A client that sends any bytes, and reads or does not read.

#include <roost/base/clock.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace roost::admin {

// Nothing takes this long unless it hangs.
inline constexpr int hang_milliseconds = 60'000;

class raw_client {
public:
    explicit raw_client(unsigned short port, int receive_buffer = 0)
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_buffer != 0) {
            ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    }
    explicit raw_client(const std::string& unix_path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un to{};
        to.sun_family = AF_UNIX;
        std::memcpy(to.sun_path, unix_path.data(), std::min(unix_path.size(), sizeof to.sun_path - 1));
        is_connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    }
    raw_client(raw_client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), is_connected_(other.is_connected_) {}
    raw_client& operator=(raw_client&&) = delete;
    ~raw_client() { close(); }

    [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
    [[nodiscard]] int fd() const noexcept { return fd_; }
    // Returns false if the peer has closed the connection.
    bool send(std::string_view bytes) const noexcept {
        while (!bytes.empty()) {
            const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n < 0) {
                return false;
            }
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }
    // Returns what comes until the peer closes the connection. A reset ends it as well.
    [[nodiscard]] std::string read_all() const {
        std::string all;
        while (const auto piece = read_some(hang_milliseconds)) {
            if (piece->empty()) {
                return all;
            }
            all += *piece;
        }
        ADD_FAILURE() << "the connection stays open; so far: " << all.substr(0, 500);
        return all;
    }
    // Returns an empty text at the end of the connection, and an empty optional if nothing came in time.
    [[nodiscard]] std::optional<std::string> read_some(int milliseconds) const {
        pollfd p{fd_, POLLIN, 0};
        if (::poll(&p, 1, milliseconds) == 0) {
            return std::nullopt;
        }
        std::string piece(65536, ' ');
        const ssize_t n = ::recv(fd_, piece.data(), piece.size(), 0);
        piece.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
        return piece;
    }
    // Returns true if the peer closes the connection in time, whatever it sends before.
    [[nodiscard]] bool is_closed_within(std::chrono::milliseconds limit) const {
        const auto end = std::chrono::steady_clock::now() + limit;
        for (;;) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
            const auto piece = read_some(std::max(0, static_cast<int>(left.count())));
            if (!piece || piece->empty()) {
                return piece.has_value();
            }
        }
    }
    void end_sending() const noexcept { ::shutdown(fd_, SHUT_WR); }
    void close() noexcept {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

private:
    int fd_;
    bool is_connected_ = false;
};

inline std::string get_text(std::string_view path, std::string_view fields = {}) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(fields) + "\r\n";
}
inline std::string ask(unsigned short port, std::string_view request) {
    const raw_client c(port);
    EXPECT_TRUE(c.is_connected());
    c.send(request);
    return c.read_all();
}
inline std::string get(unsigned short port, std::string_view path, std::string_view fields = {}) {
    return ask(port, get_text(path, fields));
}
// Returns 0 if it is no reply.
inline int status_of(std::string_view reply) {
    return reply.starts_with("HTTP/1.") && reply.size() > 12 ? std::stoi(std::string(reply.substr(9, 3))) : 0;
}
inline std::string body_of(std::string_view reply) {
    const std::size_t end = reply.find("\r\n\r\n");
    return std::string(end == std::string_view::npos ? std::string_view() : reply.substr(end + 4));
}
inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace roost::admin
