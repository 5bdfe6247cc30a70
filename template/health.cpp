#include "health.hpp"

#include <roost/runtime/blocking.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

namespace {

using roost::task;
using roost::service::host;

int listen_on(unsigned short port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(fd, 16) != 0) {
        const int error = errno;
        ::close(fd);
        throw std::system_error(error, std::generic_category(), "health port " + std::to_string(port));
    }
    return fd;
}

void answer(host& h, int client) {
    const timeval limit{1, 0};  // a client that says nothing is dropped
    ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char request[512];
    const ssize_t n = ::recv(client, request, sizeof request, 0);
    const std::string line(request, n > 0 ? static_cast<std::size_t>(n) : 0);
    const bool ready = line.rfind("GET /readyz ", 0) == 0;
    const bool known = ready || line.rfind("GET /healthz ", 0) == 0;
    const bool good = ready ? h.is_ready() : h.is_live();
    const std::string body = (known ? h.status() : std::string("unknown")) + "\n";
    const std::string status = !known ? "404 Not Found" : good ? "200 OK" : "503 Service Unavailable";
    const std::string reply = "HTTP/1.0 " + status +
                              "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                              body;
    static_cast<void>(::send(client, reply.data(), reply.size(), MSG_NOSIGNAL));
    ::close(client);
}

// Closed when the last of its users has gone: the number of a closed socket may belong to another file.
class socket_owner {
public:
    explicit socket_owner(int fd) : fd_(fd) {}
    ~socket_owner() { ::close(fd_); }
    socket_owner(const socket_owner&) = delete;
    socket_owner& operator=(const socket_owner&) = delete;
    int fd() const { return fd_; }
    void end() {
        has_ended_ = true;
        ::shutdown(fd_, SHUT_RDWR);
    }
    bool has_ended() const { return has_ended_; }

private:
    int fd_;
    std::atomic<bool> has_ended_{false};
};
using shared_socket = std::shared_ptr<socket_owner>;

// On a thread of the blocking lane, until the socket is shut down.
int accept_all(host* h, const shared_socket& listener) {
    while (!listener->has_ended()) {
        const int client = ::accept4(listener->fd(), nullptr, nullptr, SOCK_CLOEXEC);
        if (client >= 0) {
            answer(*h, client);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            ::usleep(100'000);  // others will give files back, and the probe asks again
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return errno;
        }
    }
    return 0;
}

// Without health checks the service is as good as dead to its manager, so an error ends it: see component_options::optional.
task<> serve(host& h, roost::shutdown stop, shared_socket listener) {
    const int error = co_await roost::blocking(accept_all, &h, listener);
    if (stop.state() == roost::shutdown_state::running) {
        throw std::system_error(error, std::generic_category(), "accept on the health port");
    }
}

task<> end(shared_socket listener) {
    listener->end();
    co_return;
}

}  // namespace

void health_server::start(host& h, roost::service::component& in, unsigned short port) {
    const auto listener = std::make_shared<socket_owner>(listen_on(port));
    in.on_stop([listener] { return end(listener); });
    in.launch("health", serve(h, in.shutdown(), listener));
}
