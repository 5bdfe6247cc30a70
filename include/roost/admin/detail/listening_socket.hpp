#pragma once

#include <roost/admin/http_address.hpp>
#include <roost/io/tcp_listener.hpp>
#include <roost/io/unix_listener.hpp>

#include <string>

namespace roost::inline ROOST_ABI::admin::detail {

// A bound socket that listens and does not block. The file of a Unix socket is removed with it.
class listening_socket {
public:
    // Throws std::system_error, whose text names the address.
    explicit listening_socket(const http_address& at);
    ~listening_socket() { close(); }
    listening_socket(const listening_socket&) = delete;
    listening_socket& operator=(const listening_socket&) = delete;

    // Returns -1 after close().
    [[nodiscard]] int fd() const noexcept { return fd_; }
    // Returns where it listens: "127.0.0.1:9090", with the port that was chosen for port 0.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] unsigned short port() const noexcept { return port_; }
    // Returns the descriptor of a new connection, which does not block, or -1. errno has the reason.
    [[nodiscard]] int accept() const noexcept;
    void close() noexcept;

private:
    void bind(const io::endpoint& at, const std::string& text);
    void inherit(int descriptor, const std::string& text);

    io::tcp_listener tcp_;
    io::unix_listener unix_;
    int inherited_ = -1;
    int fd_ = -1;
    unsigned short port_ = 0;
    std::string name_;
};

}  // namespace roost::inline ROOST_ABI::admin::detail
