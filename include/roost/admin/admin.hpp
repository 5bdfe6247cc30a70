#pragma once

// /metrics, /readyz and /livez on a listener of their own, beside the program's own servers.
//
//   int main() {
//       return service::run(serve, service::options().name("shop").attach(admin::listen("*:9090")));
//   }
//
// The listener has a thread of its own: it does not run on the executor that it watches. A program without a service uses a
// server:
//
//   const admin::server door(admin::listen(9090).ready([&] { return cache.is_warm(); }));

#include <roost/admin/http_listener.hpp>
#include <roost/observe/registry.hpp>
#include <roost/service/host.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI::admin {

// Where to listen and what to answer. Copyable; listen() returns one. Setters throw std::bad_alloc.
class settings {
public:
    // A check of the program's own. It runs on the thread of its route and may block. A check that throws counts as false.
    using check = std::function<bool()>;

    explicit settings(http_address at) : at_(std::move(at)) {}

    // Sets the registry of /metrics. Default: registry::of_process(). Requires that the registry outlives the listener.
    settings& metrics(const metrics::registry& from) & { return registry_ = &from, *this; }
    settings&& metrics(const metrics::registry& from) && { return std::move(metrics(from)); }
    // Sets whether the listener calls metrics::enable(), which measures jobs and their times. Default: true.
    settings& measure(bool on) & { return measures_ = on, *this; }
    settings&& measure(bool on) && { return std::move(measure(on)); }
    // Sets a check of /readyz: it answers 200 while the check and, in a service, host::is_ready() return true.
    settings& ready(check c) & { return ready_ = std::move(c), *this; }
    settings&& ready(check c) && { return std::move(ready(std::move(c))); }
    // Sets a check of /livez: it answers 200 while the check and, in a service, host::is_live() return true. In phase exit,
    // the check alone decides.
    settings& live(check c) & { return live_ = std::move(c), *this; }
    settings&& live(check c) && { return std::move(live(std::move(c))); }
    // Adds a page, as http_routes::get. Requires that what the handler refers to outlives the listener.
    settings& get(std::string path, http_handler h) & {
        pages_.get(std::move(path), std::move(h));
        return *this;
    }
    settings&& get(std::string path, http_handler h) && { return std::move(get(std::move(path), std::move(h))); }
    // Sets what a client may use.
    settings& limits(const http_limits& l) & { return limits_ = l, *this; }
    settings&& limits(const http_limits& l) && { return std::move(limits(l)); }

    [[nodiscard]] const http_address& address() const noexcept { return at_; }
    [[nodiscard]] const http_limits& limits() const noexcept { return limits_; }
    [[nodiscard]] const metrics::registry& metrics() const noexcept { return *registry_; }
    [[nodiscard]] bool measures() const noexcept { return measures_; }
    [[nodiscard]] const check& ready() const noexcept { return ready_; }
    [[nodiscard]] const check& live() const noexcept { return live_; }
    [[nodiscard]] const http_routes& pages() const noexcept { return pages_; }

    // Calls serve(h, *this). For service::options::attach.
    void operator()(service::host& h) const;

private:
    http_address at_;
    http_limits limits_;
    const metrics::registry* registry_ = &metrics::registry::of_process();
    bool measures_ = true;
    check ready_;
    check live_;
    http_routes pages_;
};

// Returns the settings of a listener at that address: a port of 127.0.0.1, or a text (http_address.hpp).
[[nodiscard]] inline settings listen(http_address at) { return settings(std::move(at)); }

// Serves the settings until it is destroyed.
class server {
public:
    // Binds and starts. `tell` receives sentences for an operator. Throws std::system_error, whose text names the address, or
    // std::bad_alloc.
    explicit server(const settings& what, http_listener::notice tell = {});
    // As http_listener::address() and http_listener::port().
    [[nodiscard]] const std::string& address() const noexcept { return listener_.address(); }
    [[nodiscard]] unsigned short port() const noexcept { return listener_.port(); }

private:
    http_listener listener_;
};

// Serves until the threads of the service have ended. From the begin of shutdown, /readyz answers 503; /livez and /metrics
// answer until the end. Returns the port; returns 0 for other addresses. If the listener cannot start, logs one line with
// the reason and returns 0: the service runs without it.
unsigned short serve(service::host& h, const settings& what);

}  // namespace roost::inline ROOST_ABI::admin
