#include "health.hpp"

#include <roost/io/io.hpp>
#include <roost/task/timeout.hpp>

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

namespace {

namespace io = roost::io;
using roost::task;
using roost::service::component;
using roost::service::host;

std::string reply_to(const host& h, const std::string& request) {
    const bool ready = request.rfind("GET /readyz ", 0) == 0;
    const bool known = ready || request.rfind("GET /healthz ", 0) == 0;
    const bool good = ready ? h.is_ready() : h.is_live();
    const std::string body = (known ? h.status() : std::string("unknown")) + "\n";
    const std::string status = !known ? "404 Not Found" : good ? "200 OK" : "503 Service Unavailable";
    return "HTTP/1.0 " + status + "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

task<> answer(const host& h, io::tcp_stream& probe) {
    std::string request;
    const auto head = co_await probe.read_until(request, "\r\n\r\n", 4096);
    if (head) {
        const std::string reply = reply_to(h, request);
        static_cast<void>(co_await probe.write_all(reply));
    }
}

// A client that says nothing is dropped.
task<> serve_one(const host& h, io::tcp_stream probe) {
    static_cast<void>(co_await roost::move_on_after(std::chrono::seconds(1), answer(h, probe)));
}

// Others will give descriptors back, and the probe asks again. accept() itself waits a moment before it tries again.
bool is_passing(const std::error_code& why) {
    return why == std::errc::too_many_files_open || why == std::errc::too_many_files_open_in_system ||
           why == std::errc::no_buffer_space || why == std::errc::not_enough_memory;
}

// Without health checks the service is as good as dead to its manager, so an error ends it: see component_options::optional.
task<> accept_all(const host& h, component& in, io::tcp_listener door) {
    for (;;) {
        auto probe = co_await in.shutdown().interrupt(door.accept());
        if (!probe) {
            co_return;  // stopped
        }
        if (!is_passing(probe->code())) {
            in.launch("probe", serve_one(h, std::move(*probe).value()));  // value() throws any other error
        }
    }
}

}  // namespace

void health_server::start(host& h, component& in, unsigned short port) {
    in.launch("health", accept_all(h, in, io::tcp_listener::bind(io::endpoint::any(port)).value()));
}
