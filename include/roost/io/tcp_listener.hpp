#pragma once

// Accepts TCP connections.
//
//   auto door = io::tcp_listener::bind(io::endpoint::parse("*:8080").value()).value();
//   for (;;) {
//       io::tcp_stream peer = co_await door.accept().or_throw();
//       s.launch("session", serve(std::move(peer)));
//   }

#include <roost/io/detail/socket_operations.hpp>
#include <roost/io/tcp_stream.hpp>

namespace roost::inline ROOST_ABI::io {

using listen_options = detail::listen_settings;

class tcp_listener {
public:
    tcp_listener() noexcept = default;
    // Binds and listens. Port 0 is any free port, which local() returns.
    [[nodiscard]] static result<tcp_listener> bind(const endpoint& at,
                                                   const listen_options& how = listen_options()) noexcept {
        result<detail::pollable_owner> made = detail::listen_on(at, how);
        return made ? result<tcp_listener>(std::in_place, tcp_listener(std::move(*made)))
                    : result<tcp_listener>(made.code(), "tcp_listener::bind");
    }

    // Completes with result<tcp_stream>. If the process has no descriptor left (EMFILE) or the kernel no memory, it completes
    // with that error. The next accept() waits for another connection, for at most 50 ms, before it tries again. So a loop
    // that only logs does not spin. On an executor without timers, it waits for another connection.
    [[nodiscard]] detail::accept_operation<tcp_stream> accept() noexcept {
        return detail::accept_operation<tcp_stream>(state_.get());
    }

    // Returns an empty endpoint if it is closed.
    [[nodiscard]] endpoint local() const noexcept { return detail::local_of(native_handle()); }
    // Ends accept() of other tasks, with errc::closed. Does nothing if it is closed. Thread-safe.
    void close() noexcept { state_.close(); }
    [[nodiscard]] bool is_open() const noexcept { return state_.is_open(); }
    [[nodiscard]] int native_handle() const noexcept { return state_.native_handle(); }

private:
    explicit tcp_listener(detail::pollable_owner state) noexcept : state_(std::move(state)) {}
    detail::pollable_owner state_;
};

}  // namespace roost::inline ROOST_ABI::io
