#pragma once

// A small HTTP server for the operators of a program: a thread of its own, GET and HEAD of some paths, strict limits. The
// limits bound how long a client can delay another client, whatever it sends or does not read.
//
//   admin::http_routes pages;
//   pages.get("/tree", [&](const admin::http_request&) { return admin::http_reply::text(200, dump(root)); });
//   admin::http_listener door(admin::http_address("127.0.0.1:9090"), std::move(pages));
//
// Each connection carries one request; the reply has the field Connection: close.

#include <roost/admin/http.hpp>
#include <roost/admin/http_address.hpp>
#include <roost/base/clock.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::admin {

// What a client may use. A plain value.
class http_limits {
public:
    constexpr http_limits() noexcept = default;

    // Open connections, at least 1; default 64. A further client takes the place of the oldest that has sent no complete
    // header for 100 ms. If there is none, it takes the place of the oldest client without a stream, else of the oldest
    // client.
    constexpr http_limits& connections(unsigned most) noexcept { return connections_ = most == 0 ? 1 : most, *this; }
    // Bytes of the request line and the header fields together; default 8192.
    constexpr http_limits& header(std::size_t bytes) noexcept { return header_ = bytes, *this; }
    // Time from the connection to the end of the header; default 5 s.
    constexpr http_limits& read_within(duration d) noexcept { return read_within_ = d, *this; }
    // Time for the handler; default 10 s. After it the client receives a 503.
    constexpr http_limits& handle_within(duration d) noexcept { return handle_within_ = d, *this; }
    // Time without a byte read by the client; default 5 s. Whole seconds, at least one.
    constexpr http_limits& idle_within(duration d) noexcept { return idle_within_ = d, *this; }
    // Time for the whole reply, unless it is a stream; default 30 s.
    constexpr http_limits& send_within(duration d) noexcept { return send_within_ = d, *this; }

    [[nodiscard]] constexpr unsigned connections() const noexcept { return connections_; }
    [[nodiscard]] constexpr std::size_t header() const noexcept { return header_; }
    [[nodiscard]] constexpr duration read_within() const noexcept { return read_within_; }
    [[nodiscard]] constexpr duration handle_within() const noexcept { return handle_within_; }
    [[nodiscard]] constexpr duration idle_within() const noexcept { return idle_within_; }
    [[nodiscard]] constexpr duration send_within() const noexcept { return send_within_; }

private:
    unsigned connections_ = 64;
    std::size_t header_ = 8192;
    duration read_within_ = std::chrono::seconds(5);
    duration handle_within_ = std::chrono::seconds(10);
    duration idle_within_ = std::chrono::seconds(5);
    duration send_within_ = std::chrono::seconds(30);
};

// Which handler answers which path.
class http_routes {
public:
    enum class runs : unsigned char {
        alone,  // on a thread of this route, one call at a time: it may block
        at_once,  // on the listener's thread: it must not block
    };
    class route {
    public:
        http_handler handler;
        runs how = runs::alone;
    };

    // Sets the handler of a path. A path that ends with '*' matches every path that begins with the text before the '*'. An
    // exact path wins over these; else the longest wins. A later call for the same path replaces the handler. Throws
    // std::bad_alloc.
    http_routes& get(std::string path, http_handler handler, runs how = runs::alone);
    // Returns the route that matches the path; null if none does.
    [[nodiscard]] const route* find(const std::string& path) const noexcept;
    [[nodiscard]] const std::map<std::string, route>& all() const noexcept { return routes_; }

private:
    std::map<std::string, route> routes_;
};

namespace detail {
class http_loop;
}  // namespace detail

// Serves the routes until it is destroyed. Its functions are thread-safe.
class http_listener {
public:
    // Receives a sentence for an operator: a handler does not return, or there are no descriptors. Called on threads of the
    // listener. Requires that it does not throw.
    using notice = std::function<void(const std::string&)>;

    // Binds and starts. Throws std::system_error, whose text names the address, or std::bad_alloc.
    http_listener(const http_address& at, http_routes routes, const http_limits& limits = http_limits(), notice tell = {});
    // Blocks for up to a second until handlers and replies have ended. Then ends every connection and joins the threads. A
    // handler that has not returned by then keeps its thread and what it owns; the notice names its path.
    ~http_listener();
    http_listener(const http_listener&) = delete;
    http_listener& operator=(const http_listener&) = delete;

    // Returns the address of the listening socket: "127.0.0.1:9090", "unix:/run/app.sock". For port 0 it has the chosen port.
    [[nodiscard]] const std::string& address() const noexcept;
    // Returns the port; 0 if it is no TCP address.
    [[nodiscard]] unsigned short port() const noexcept;

private:
    std::unique_ptr<detail::http_loop> loop_;
};

}  // namespace roost::inline ROOST_ABI::admin
