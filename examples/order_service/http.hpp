#pragma once

// The part of HTTP/1.1 that the order service needs: requests whose head and body are short, and whose Content-Length says how
// long the body is. No sockets here, so that the fuzzer can have it.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace demo {

constexpr std::size_t header_limit = 8 * 1024;
constexpr std::size_t body_limit = 16 * 1024;

enum class status : int {
    ok = 200,
    created = 201,
    bad_request = 400,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    length_required = 411,
    payload_too_large = 413,
    header_too_large = 431,
    server_error = 500,
    service_unavailable = 503,
    gateway_timeout = 504,
};
[[nodiscard]] std::string_view reason_of(status s) noexcept;

// The views refer to the bytes of the reader that found the request, until its next room() or drop().
class request {
public:
    std::string_view method;
    std::string_view target;
    std::string_view body;
    bool keep_alive = true;
};

class response {
public:
    response(status how, std::string text) : code(how), body(std::move(text)) {}

    status code;
    std::string body;
    std::string_view type = "text/plain; charset=utf-8";
};
// Returns what is sent before the body.
[[nodiscard]] std::string head_of(const response& r, bool keep_alive);

// Finds the requests in the bytes of a connection, however they are cut.
class request_reader {
public:
    enum class found { nothing, part, whole, fault };

    // Returns where the next bytes are to be put. Then add() says how many came.
    [[nodiscard]] std::span<char> room();
    void add(std::size_t count) noexcept { end_ += count; }

    // Returns what the bytes begin with.
    [[nodiscard]] found look();
    // After `whole`.
    [[nodiscard]] request get() const noexcept;
    // After `fault`: the answer. What follows on this connection can't be read.
    [[nodiscard]] status objection() const noexcept { return objection_; }
    // Forgets the request that get() returns.
    void drop() noexcept;

private:
    [[nodiscard]] std::string_view bytes() const noexcept { return std::string_view(data_).substr(begin_, end_ - begin_); }
    [[nodiscard]] found find_head() noexcept;
    // These return false, and set objection_, if the request is refused.
    [[nodiscard]] bool read_head() noexcept;
    [[nodiscard]] bool read_first_line(std::string_view line) noexcept;
    [[nodiscard]] bool read_field(std::string_view line) noexcept;
    [[nodiscard]] bool read_length(std::string_view value) noexcept;
    [[nodiscard]] bool refuse(status why) noexcept { return objection_ = why, false; }

    std::string data_;  // from begin_ to end_: what came and is not dropped
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t searched_ = 0;  // no head ends before this
    // Of the first request, once its head is whole; sizes in bytes.
    std::size_t head_ = 0;
    std::size_t method_ = 0;
    std::size_t target_ = 0;
    std::size_t body_ = 0;
    bool has_length_ = false;
    bool keep_alive_ = true;
    bool closes_ = false;
    status objection_ = status::ok;
};

}  // namespace demo
