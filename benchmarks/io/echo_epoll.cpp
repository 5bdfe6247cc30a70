// The floor of the rows io/echo_*: one epoll per thread, a read and a write per message, no coroutine, no timer, no choice.
#include "../harness/server_options.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

int listen_on(int port) {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int const on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(fd, SOMAXCONN) != 0 ||
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
        std::perror("echo_epoll");
        std::exit(1);
    }
    bench::print_port(ntohs(at.sin_port));
    return fd;
}

void add(int epoll, int fd, std::uint32_t events) {
    epoll_event event{events, {.fd = fd}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// Connections go to the threads in turn.
void accept_all(int listener, std::vector<int> const& epolls, std::size_t& next) {
    for (int fd; (fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        int const on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        add(epolls[next++ % epolls.size()], fd, EPOLLIN | EPOLLET);
    }
}

bool write_all(int fd, char const* data, std::size_t size) {
    while (size > 0) {
        ssize_t const n = ::send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            pollfd wait{fd, POLLOUT, 0};
            ::poll(&wait, 1, -1);
        } else if (n <= 0) {
            return false;
        } else {
            data += n;
            size -= static_cast<std::size_t>(n);
        }
    }
    return true;
}

void echo(int fd) {
    std::array<char, bench::server_buffer> data;
    for (;;) {
        ssize_t const n = ::recv(fd, data.data(), data.size(), 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0 || !write_all(fd, data.data(), static_cast<std::size_t>(n))) {
            ::close(fd);
            return;
        }
        if (static_cast<std::size_t>(n) < data.size()) return;   // the edge comes again with the next byte
    }
}

void serve(int listener, std::vector<int> const& epolls, std::size_t mine) {
    std::array<epoll_event, 256> events;
    std::size_t next = 0;
    for (;;) {
        int const ready = ::epoll_wait(epolls[mine], events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            int const fd = events[static_cast<std::size_t>(i)].data.fd;
            fd == listener ? accept_all(listener, epolls, next) : echo(fd);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::server_options const how = bench::parse_server_options(argc, argv);
    if (how.timeout_ms != 0) {
        std::fprintf(stderr, "echo_epoll: has no deadlines\n");
        return 2;
    }
    std::vector<int> epolls;
    for (int i = 0; i < how.threads; ++i) epolls.push_back(::epoll_create1(EPOLL_CLOEXEC));
    int const listener = listen_on(how.port);
    add(epolls[0], listener, EPOLLIN);
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < epolls.size(); ++i) threads.emplace_back([=, &epolls] { serve(listener, epolls, i); });
    serve(listener, epolls, 0);
}
