#pragma once

// /metrics, /readyz and /livez on a listener of their own, beside what the program serves.
//
//   int main() {
//       return service::run(serve, service::options().name("shop").attach(admin::listen("*:9090")));
//   }
//
// The listener has a thread of its own, never one of the executor that it watches. A program without a service has a server:
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

// Where to listen and what to answer. Copyable; listen() makes one.
class settings {
public:
    // A check of the program's own. It runs on a thread of the listener and may block. One that throws counts as false.
    using check = std::function<bool()>;

    explicit settings(http_address at) : at_(std::move(at)) {}

    // What /metrics shows, as Prometheus text or OpenMetrics. Default: registry::of_process(). The registry has to outlive the
    // listener.
    settings& metrics(const metrics::registry& from) & { return registry_ = &from, *this; }
    settings&& metrics(const metrics::registry& from) && { return std::move(metrics(from)); }
    // Whether the listener calls metrics::enable(), so that jobs and their times are measured. Default: true.
    settings& measure(bool on) & { return measures_ = on, *this; }
    settings&& measure(bool on) && { return std::move(measure(on)); }
    // /readyz answers 200 while this and, in a service, host::is_ready() return true.
    settings& ready(check c) & { return ready_ = std::move(c), *this; }
    settings&& ready(check c) && { return std::move(ready(std::move(c))); }
    // /livez answers 200 while this and, in a service, host::is_live() return true.
    settings& live(check c) & { return live_ = std::move(c), *this; }
    settings&& live(check c) && { return std::move(live(std::move(c))); }
    // Another page; see http_routes::get.
    settings& get(std::string path, http_handler h) & {
        pages_.get(std::move(path), std::move(h));
        return *this;
    }
    settings&& get(std::string path, http_handler h) && { return std::move(get(std::move(path), std::move(h))); }
    settings& limits(const http_limits& l) & { return limits_ = l, *this; }
    settings&& limits(const http_limits& l) && { return std::move(limits(l)); }

    [[nodiscard]] const http_address& address() const noexcept { return at_; }
    [[nodiscard]] const http_limits& limits() const noexcept { return limits_; }
    [[nodiscard]] const metrics::registry& metrics() const noexcept { return *registry_; }
    [[nodiscard]] bool measures() const noexcept { return measures_; }
    [[nodiscard]] const check& ready() const noexcept { return ready_; }
    [[nodiscard]] const check& live() const noexcept { return live_; }
    [[nodiscard]] const http_routes& pages() const noexcept { return pages_; }

    // For service::options::attach: calls serve(h, *this).
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

// Returns the settings of a listener: at a port of 127.0.0.1, or at an address as http_address reads it.
[[nodiscard]] inline settings listen(http_address at) { return settings(std::move(at)); }

// Serves until it is destroyed.
class server {
public:
    // Throws std::system_error, whose text names the address, or std::bad_alloc.
    explicit server(const settings& what, http_listener::notice tell = {});
    [[nodiscard]] const std::string& address() const noexcept { return listener_.address(); }
    [[nodiscard]] unsigned short port() const noexcept { return listener_.port(); }

private:
    http_listener listener_;
};

// Serves until everything of the service has ended. /readyz answers 503 from the begin of shutdown on; /livez and /metrics answer
// until the end. If the address cannot be bound, logs one line, and the service goes on without. Does not throw for that reason.
// Returns the port, or 0.
unsigned short serve(service::host& h, const settings& what);

}  // namespace roost::inline ROOST_ABI::admin
