#pragma once

// Datagrams over UDP.
//
//   auto door = io::udp_socket::bind(io::endpoint::parse("*:5353").value()).value();
//   std::array<char, 1500> data;
//   const io::datagram got = co_await door.receive_from(data).or_throw();
//   co_await door.send_to(io::const_buffer(data.data(), got.size()), got.from()).or_throw();
//
// A datagram arrives whole, or cut to the size of the buffer, or not at all. Operations have the forms of io::stream. If a
// receive is cancelled, the datagram stays in the kernel for the next receive.

#include <roost/io/detail/datagram_operations.hpp>
#include <roost/io/detail/pollable.hpp>
#include <roost/io/endpoint.hpp>
#include <roost/io/result.hpp>

namespace roost::inline ROOST_ABI::io {

class udp_socket {
public:
    udp_socket() noexcept = default;
    // Port 0 is any free port, which local() returns.
    [[nodiscard]] static result<udp_socket> bind(const endpoint& at) noexcept;
    // Makes a socket that exchanges datagrams with `peer` only. Does not block, and sends nothing.
    [[nodiscard]] static result<udp_socket> connect(const endpoint& peer) noexcept;
    // Changes the peer of this socket. With an empty endpoint it has no peer from then on. Does not block.
    [[nodiscard]] result<> set_peer(const endpoint& peer) noexcept;

    // Sends one datagram. Completes with its size.
    [[nodiscard]] detail::send_operation send_to(const_buffer from, const endpoint& to) noexcept {
        return {state_.get(), from, to};
    }
    // Completes with result<datagram>: size, sender, and whether the buffer was too short.
    [[nodiscard]] detail::receive_from_operation receive_from(mutable_buffer to) noexcept { return {state_.get(), to}; }
    // For a connected socket. If the peer's machine refused an earlier datagram, the error is ECONNREFUSED.
    [[nodiscard]] detail::send_operation send(const_buffer from) noexcept { return {state_.get(), from}; }
    // If the buffer was too short, the error is EMSGSIZE, and transferred() is what was stored.
    [[nodiscard]] detail::receive_operation receive(mutable_buffer to) noexcept { return {state_.get(), to}; }

    [[nodiscard]] endpoint local() const noexcept;
    // Returns an empty endpoint if it is not connected.
    [[nodiscard]] endpoint peer() const noexcept;
    // Ends operations of other tasks, with errc::closed. Does nothing if it is closed.
    void close() noexcept { state_.close(); }
    [[nodiscard]] bool is_open() const noexcept { return state_.is_open(); }
    // Returns -1 if it is closed.
    [[nodiscard]] int native_handle() const noexcept { return state_.native_handle(); }

private:
    explicit udp_socket(detail::pollable_owner state) noexcept : state_(std::move(state)) {}

    detail::pollable_owner state_;
};

}  // namespace roost::inline ROOST_ABI::io
