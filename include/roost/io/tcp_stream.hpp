#pragma once

#include <roost/io/detail/socket_operations.hpp>
#include <roost/io/endpoint.hpp>
#include <roost/io/stream.hpp>

namespace roost::inline ROOST_ABI::io {

// A TCP connection: made by connect(), or by tcp_listener::accept(). Sends small messages at once (TCP_NODELAY).
class tcp_stream final : public stream {
public:
    tcp_stream() noexcept = default;
    // Completes with result<tcp_stream>. resolve() returns the addresses of a name.
    [[nodiscard]] static detail::connect_operation<tcp_stream> connect(const endpoint& to) noexcept {
        return detail::connect_operation<tcp_stream>(to);
    }

    // Each returns an empty endpoint if it is closed.
    [[nodiscard]] endpoint local() const noexcept { return detail::local_of(native_handle()); }
    [[nodiscard]] endpoint peer() const noexcept { return detail::peer_of(native_handle()); }

private:
    template <class Stream>
    friend class detail::connect_operation;
    template <class Stream>
    friend class detail::accept_operation;
    explicit tcp_stream(detail::pollable_owner state) noexcept : stream(std::move(state)) {}
};

}  // namespace roost::inline ROOST_ABI::io
