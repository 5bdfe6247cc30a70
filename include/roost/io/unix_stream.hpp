#pragma once

#include <roost/io/detail/socket_operations.hpp>
#include <roost/io/endpoint.hpp>
#include <roost/io/stream.hpp>

namespace roost::inline ROOST_ABI::io {

// A connection through a Unix socket: made by connect(), or by unix_listener::accept().
class unix_stream final : public stream {
public:
    unix_stream() noexcept = default;
    // Completes with result<unix_stream>. If the listener's backlog is full, the error is EAGAIN, because the kernel does not
    // report when there is room. Try again after a pause.
    [[nodiscard]] static detail::connect_operation<unix_stream> connect(const endpoint& to) noexcept {
        return detail::connect_operation<unix_stream>(to);
    }

    // The address of a client is usually "unix:", without a name. Each returns an empty endpoint if it is closed.
    [[nodiscard]] endpoint local() const noexcept { return detail::local_of(native_handle()); }
    [[nodiscard]] endpoint peer() const noexcept { return detail::peer_of(native_handle()); }

private:
    template <class Stream>
    friend class detail::connect_operation;
    template <class Stream>
    friend class detail::accept_operation;
    explicit unix_stream(detail::pollable_owner state) noexcept : stream(std::move(state)) {}
};

}  // namespace roost::inline ROOST_ABI::io
