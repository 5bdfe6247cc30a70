#pragma once

// A body that is sent in pieces while the program makes it: events, a recording, a large tree.

#include <roost/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace roost::inline ROOST_ABI::admin {

namespace detail {
class stream_bell;
}  // namespace detail

// A handle to a stream that returned `later`. Copies refer to the same stream. Thread-safe.
class stream_waker {
public:
    stream_waker() noexcept = default;
    explicit stream_waker(std::shared_ptr<detail::stream_bell> bell) noexcept : bell_(std::move(bell)) {}
    // Makes the listener call read() again. Does nothing if the stream has ended.
    void ring() const noexcept;

private:
    std::shared_ptr<detail::stream_bell> bell_;
};

// The result of read(): a number of bytes, later, or end.
class stream_piece {
public:
    // n bytes were written. 0 bytes is the same as later().
    [[nodiscard]] static constexpr stream_piece bytes(std::size_t n) noexcept { return stream_piece(kind::bytes, n); }
    // There is nothing to send until the waker rings.
    [[nodiscard]] static constexpr stream_piece later() noexcept { return stream_piece(kind::later, 0); }
    // The body is complete.
    [[nodiscard]] static constexpr stream_piece end() noexcept { return stream_piece(kind::end, 0); }

    [[nodiscard]] constexpr bool is_later() const noexcept {
        return kind_ == kind::later || (kind_ == kind::bytes && size_ == 0);
    }
    [[nodiscard]] constexpr bool is_end() const noexcept { return kind_ == kind::end; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

private:
    enum class kind : std::uint8_t { bytes, later, end };
    constexpr stream_piece(kind k, std::size_t n) noexcept : kind_(k), size_(n) {}
    kind kind_;
    std::size_t size_;
};

// A body in pieces. Only the listener's thread calls the functions and the destructor. The destructor is called when the
// client has the whole body or is disconnected. Requires that no function blocks: every client of the listener would wait.
class body_stream {
public:
    virtual ~body_stream() = default;
    // Called once, before the first read().
    virtual void begin(const stream_waker& /*waker*/) noexcept {}
    // Writes at most `room` bytes to `to`, and returns their number, later or end. An exception ends the connection.
    [[nodiscard]] virtual stream_piece read(char* to, std::size_t room) = 0;

protected:
    body_stream() = default;
    body_stream(const body_stream&) = default;
    body_stream& operator=(const body_stream&) = default;
};

}  // namespace roost::inline ROOST_ABI::admin
