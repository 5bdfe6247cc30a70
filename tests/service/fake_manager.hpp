#pragma once

// A service manager's socket for tests: a real one, read by the test.

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>

namespace roost::service {

class fake_manager {
public:
    explicit fake_manager(bool abstract = true) {
        static std::atomic<int> number{0};
        const std::string name = "roost-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
        address_ = abstract ? "@" + name : ::testing::TempDir() + name;
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path, address_.data(), address_.size());
        if (abstract) {
            at.sun_path[0] = '\0';
        }
        fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at), size), 0) << address_;
    }
    ~fake_manager() {
        ::close(fd_);
        if (address_.front() != '@') {
            ::unlink(address_.c_str());
        }
    }
    fake_manager(const fake_manager&) = delete;
    fake_manager& operator=(const fake_manager&) = delete;

    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    // The next datagram; empty when none comes within the hang limit.
    [[nodiscard]] std::string receive(int limit_ms = 60'000) {
        pollfd p{fd_, POLLIN, 0};
        if (::poll(&p, 1, limit_ms) <= 0) {
            return {};
        }
        char buffer[4096];
        const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
        return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
    }
    // Reads on until a datagram contains text; everything read, joined by newlines.
    [[nodiscard]] std::string receive_until(const std::string& text) {
        std::string all;
        for (;;) {
            const std::string one = receive();
            all += one + "\n";
            if (one.empty() || one.find(text) != std::string::npos) {
                return all;
            }
        }
    }
    // Whatever is there already.
    [[nodiscard]] std::string receive_rest() {
        std::string all;
        for (std::string one = receive(0); !one.empty(); one = receive(0)) {
            all += one + "\n";
        }
        return all;
    }

private:
    std::string address_;
    int fd_ = -1;
};

}  // namespace roost::service
