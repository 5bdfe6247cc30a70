#pragma once

// A small HTTP server beside a program, for its operators: a thread of its own, GET and HEAD of some paths, strict limits. A client
// can neither block the program nor another client for long, whatever it sends or does not read.
//
//   admin::http_routes pages;
//   pages.get("/tree", [&](const admin::http_request&) { return admin::http_reply::text(200, dump(root)); });
//   admin::http_listener door(admin::http_address("127.0.0.1:9090"), std::move(pages));
//
// Each connection carries one request; the reply says Connection: close.

#include <roost/admin/http.hpp>
#include <roost/admin/http_address.hpp>
#include <roost/base/clock.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::admin {

// What a client may take.
class http_limits {
public:
    constexpr http_limits() noexcept = default;

    // Open connections. Beyond that the oldest one whose request has not come is closed for the next.
    constexpr http_limits& connections(unsigned most) noexcept { return connections_ = most == 0 ? 1 : most, *this; }
    // Bytes of the request line and the header fields together.
    constexpr http_limits& header(std::size_t bytes) noexcept { return header_ = bytes, *this; }
    // From the connection to the end of the header.
    constexpr http_limits& read_within(duration d) noexcept { return read_within_ = d, *this; }
    // For the handler. After that the client receives 503.
    constexpr http_limits& handle_within(duration d) noexcept { return handle_within_ = d, *this; }
    // How long a client may take nothing of the reply. Whole seconds, at least one.
    constexpr http_limits& idle_within(duration d) noexcept { return idle_within_ = d, *this; }
    // For the whole reply, unless it is a stream.
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

    // A path that ends with '*' stands for every path that begins with what is before it. An exact path wins over those, and a
    // longer one over a shorter one. A later call replaces the handler of an earlier one.
    http_routes& get(std::string path, http_handler handler, runs how = runs::alone);
    // Returns null if there is none.
    [[nodiscard]] const route* find(const std::string& path) const noexcept;
    [[nodiscard]] const std::map<std::string, route>& all() const noexcept { return routes_; }

private:
    std::map<std::string, route> routes_;
};

namespace detail {
class http_loop;
}  // namespace detail

class http_listener {
public:
    // Receives a sentence about what an operator should know: a handler that does not return, no descriptors. Called on threads
    // of the listener. Must not throw.
    using notice = std::function<void(const std::string&)>;

    // Binds and starts. Throws std::system_error, whose text names the address, or std::bad_alloc.
    http_listener(const http_address& at, http_routes routes, const http_limits& limits = http_limits(), notice tell = {});
    // Ends every connection and joins the threads. A handler that has not returned a second later keeps its thread and its
    // handler; the notice names the path.
    ~http_listener();
    http_listener(const http_listener&) = delete;
    http_listener& operator=(const http_listener&) = delete;

    // Returns where it listens, with the port that was chosen for port 0: "127.0.0.1:9090", "unix:/run/app.sock".
    [[nodiscard]] const std::string& address() const noexcept;
    // Returns 0 if it is no TCP address.
    [[nodiscard]] unsigned short port() const noexcept;

private:
    std::unique_ptr<detail::http_loop> loop_;
};

}  // namespace roost::inline ROOST_ABI::admin
