// What a scraper and a probe see of a service with admin::listen: ready, metrics of the program's own, not ready while it drains, and
// nothing more after its end. And a service whose address is taken runs without.
#include <roost/admin/admin.hpp>
#include <roost/observe/metrics.hpp>
#include <roost/service/service.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>

using namespace roost;

namespace {

// Returns an empty text if nothing listens.
std::string get(unsigned short port, const std::string& path, const std::string& accept = "*/*") {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string reply;
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
        const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nAccept: " + accept + "\r\n\r\n";
        if (::write(fd, request.data(), request.size()) > 0) {
            char piece[4096];
            for (ssize_t n = 0; (n = ::read(fd, piece, sizeof piece)) > 0;) reply.append(piece, static_cast<std::size_t>(n));
        }
    }
    ::close(fd);
    return reply;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool good = true;
void check(bool is, const char* what, const std::string& text) {
    if (!is) {
        std::printf("%s:\n%s\n", what, text.c_str());
        good = false;
    }
}

const metrics::counter orders("outside_orders_total", "Orders.");
unsigned short port = 0;

task<> drain() {  // blocks a worker on purpose: the listener has its own thread
    check(has(get(port, "/readyz"), " 503 "), "ready while it drains", get(port, "/readyz"));
    check(has(get(port, "/livez"), " 200 "), "not live while it drains", get(port, "/livez"));
    co_return;
}

task<> serve(service::host& h) {
    port = admin::serve(h, admin::listen(0).get("/tree", [&h](const admin::http_request&) {
        return admin::http_reply::text(200, h.tree());
    }));
    h.add("work").on_stop(drain);
    h.set_ready();
    orders.add(3);
    check(has(get(port, "/readyz"), " 200 "), "not ready", get(port, "/readyz"));
    check(has(get(port, "/metrics"), "\noutside_orders_total 3\n"), "metrics", get(port, "/metrics"));
    const std::string open = get(port, "/metrics", "application/openmetrics-text; version=1.0.0");
    check(has(open, "Content-Type: application/openmetrics-text") && has(open, "# EOF"), "OpenMetrics", open);
    check(has(get(port, "/tree"), "'main'"), "a page of the program's own", get(port, "/tree"));
    check(has(get(port, "/../etc/passwd"), " 404 "), "a path of no page", "");
    co_return;
}

task<> do_nothing(service::host& h) {
    h.set_ready();
    co_return;
}

}  // namespace

int main() {
    check(service::run(serve, service::options().name("outside").signals(false)) == 0, "the exit code", "");
    check(get(port, "/livez").empty(), "something listens after the end", "");
    const admin::server other(admin::listen(0).live([] { return false; }));
    check(has(get(other.port(), "/livez"), " 503 "), "a server without a service", get(other.port(), "/livez"));
    const auto taken = service::options().name("second").signals(false).attach(admin::listen(other.port()));
    check(service::run(do_nothing, taken) == 0, "a service whose address is taken", "");
    return good ? 0 : 1;
}
