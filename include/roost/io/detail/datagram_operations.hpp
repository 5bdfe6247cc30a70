#pragma once

// Sending and receiving whole datagrams: one system call each.

#include <roost/io/buffer.hpp>
#include <roost/io/detail/operation.hpp>
#include <roost/io/endpoint.hpp>

#include <cstddef>

namespace roost::inline ROOST_ABI::io {

// What receive_from() returns. The bytes are in the caller's buffer.
class datagram {
public:
    datagram(std::size_t size, const endpoint& from, bool is_truncated) noexcept
        : from_(from), size_(size), truncated_(is_truncated) {}
    // Returns how many bytes of the buffer are filled. A datagram may be empty.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const endpoint& from() const noexcept { return from_; }
    // Returns true if the datagram was longer than the buffer. The rest is lost.
    [[nodiscard]] bool is_truncated() const noexcept { return truncated_; }

private:
    endpoint from_;
    std::size_t size_;
    bool truncated_;
};

namespace detail {

class send_operation : public typed_operation<send_operation> {
public:
    // To the connected peer.
    send_operation(pollable* on, const_buffer from) noexcept
        : typed_operation(on, direction::out, &send_operation::attempt, "send"), from_(from) {}
    send_operation(pollable* on, const_buffer from, const endpoint& to) noexcept
        : typed_operation(on, direction::out, &send_operation::attempt, "send_to"), from_(from), to_(to) {}
    [[nodiscard]] result<std::size_t> result_of() const noexcept { return counted(); }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    const_buffer from_;
    endpoint to_;
};

class receiving : public operation {
public:
    receiving(pollable* on, mutable_buffer to, const char* what) noexcept
        : operation(on, direction::in, &receiving::attempt, what), to_(to) {}

protected:
    [[nodiscard]] datagram received() const noexcept { return {count(), from_, truncated_}; }
    [[nodiscard]] bool is_truncated() const noexcept { return truncated_; }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    mutable_buffer to_;
    endpoint from_;
    bool truncated_ = false;
};

class receive_from_operation : public typed_operation<receive_from_operation, receiving> {
public:
    receive_from_operation(pollable* on, mutable_buffer to) noexcept : typed_operation(on, to, "receive_from") {}
    [[nodiscard]] result<datagram> result_of() const noexcept {
        return has_failed() ? result<datagram>(code(), what()) : result<datagram>(std::in_place, received());
    }
};

class receive_operation : public typed_operation<receive_operation, receiving> {
public:
    receive_operation(pollable* on, mutable_buffer to) noexcept : typed_operation(on, to, "receive") {}
    [[nodiscard]] result<std::size_t> result_of() const noexcept {
        return !has_failed() && is_truncated()
                   ? result<std::size_t>(std::make_error_code(std::errc::message_size), what(), count())
                   : counted();
    }
};

}  // namespace detail
}  // namespace roost::inline ROOST_ABI::io
