#pragma once

// Two connected streams in memory, for tests of code that serves an io::stream: without a network, and in virtual time.
//
//   testing::virtual_time clock;
//   auto [client, server] = testing::duplex(testing::wire().short_reads(1), testing::wire().delay(20ms, clock));
//   root.launch("session", serve(server));
//
// They work on every executor, also without a driver, and on threads. Each direction is a wire, with the faults that the test
// wants. When one end is closed, the other reads the rest and then the end, and its writes are EPIPE.

#include <roost/exec/timer.hpp>
#include <roost/io/stream.hpp>
#include <roost/testing/names.hpp>

#include <cstddef>
#include <limits>

namespace roost::inline ROOST_ABI::testkit {

// What happens to the bytes of one direction.
class wire {
public:
    constexpr wire() noexcept = default;
    // How many bytes may be on their way. A writer waits while there are so many. At least 1.
    constexpr wire& capacity(std::size_t bytes) noexcept { return capacity_ = bytes == 0 ? 1 : bytes, *this; }
    // One call reads or writes at most so many bytes. At least 1.
    constexpr wire& short_reads(std::size_t most) noexcept { return read_ = most == 0 ? 1 : most, *this; }
    constexpr wire& short_writes(std::size_t most) noexcept { return write_ = most == 0 ? 1 : most, *this; }
    constexpr wire& one_byte_at_a_time() noexcept { return short_reads(1).short_writes(1); }
    // Each byte arrives so much later than it was written, and so does the end. The clock, for example a virtual_time, must
    // outlive both streams.
    constexpr wire& delay(duration how_long, ext::timer_service& clock) noexcept {
        return delay_ = how_long, clock_ = &clock, *this;
    }
    // After so many bytes the reader finds the end. Further writes are EPIPE.
    constexpr wire& end_after(std::size_t bytes) noexcept { return end_ = bytes, *this; }
    // After so many bytes the connection is reset, in both directions: ECONNRESET.
    constexpr wire& reset_after(std::size_t bytes) noexcept { return reset_ = bytes, *this; }

private:
    friend class one_way;
    static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
    std::size_t capacity_ = 64 * 1024;
    std::size_t read_ = no_limit;
    std::size_t write_ = no_limit;
    std::size_t end_ = no_limit;
    std::size_t reset_ = no_limit;
    duration delay_{};
    ext::timer_service* clock_ = nullptr;
};

class duplex_pair;
// Throws std::bad_alloc.
[[nodiscard]] duplex_pair duplex(const wire& from_client = wire(), const wire& from_server = wire());

// One end. It has no descriptor: native_handle() is -1.
class duplex_end final : public io::stream {
public:
    duplex_end() noexcept = default;

private:
    friend duplex_pair duplex(const wire& from_client, const wire& from_server);
    explicit duplex_end(io::detail::pollable_owner state) noexcept : stream(std::move(state)) {}
};

class duplex_pair {
public:
    duplex_pair(duplex_end one, duplex_end other) noexcept : client(std::move(one)), server(std::move(other)) {}

    duplex_end client;
    duplex_end server;
};

}  // namespace roost::inline ROOST_ABI::testkit
