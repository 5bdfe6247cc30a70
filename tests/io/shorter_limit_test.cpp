// A limit of a stream that is set lower between two operations, as a server does when a request has begun.

#include <roost/io/stream.hpp>

#include <roost/task/owned_scope.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using io::detail::direction;
using io::detail::moved;

class slow_peer final : public io::detail::pollable {
public:
    slow_peer() noexcept : pollable(false) {}
    ~slow_peer() = default;

    void arrive(std::size_t bytes) noexcept {
        there_ += bytes;
        at(direction::in).set(false);
    }
    std::error_code attach(executor_ref, direction) noexcept override { return {}; }
    moved read(const iovec* to, int) noexcept override {
        const std::size_t n = std::min(there_, to->iov_len);
        there_ -= n;
        return n > 0 ? moved(static_cast<std::ptrdiff_t>(n), 0) : moved(-1, EAGAIN);
    }
    moved write(const iovec*, int) noexcept override { return {-1, EAGAIN}; }
    int end_writing() noexcept override { return 0; }
    bool block(direction, time_point) noexcept override { return false; }
    const char* name() const noexcept override { return "slow"; }

private:
    void released() noexcept override { drop_limits(); }
    std::size_t there_ = 0;
};

class slow_stream final : public io::stream {
public:
    explicit slow_stream(slow_peer& peer) noexcept : stream(io::detail::pollable_owner(&peer)) {}
};

// A part comes within the first limit; the next never comes.
task<> read_twice(io::stream& from, duration first, duration then, std::error_code& how) {
    std::array<char, 4> to{};
    from.set_read_limit(first);
    static_cast<void>(co_await from.read_some(to).or_throw());
    from.set_read_limit(then);
    const auto got = co_await from.read_some(to);
    how = got.code();
}

// Returns how long the second read waited.
duration waited(duration first, duration then) {
    testing::virtual_time clock;
    owned_scope root(clock, scope_options("root").report_failures());
    slow_peer peer;
    slow_stream stream(peer);
    std::error_code how;
    root.launch("reader", read_twice(stream, first, then, how));
    clock.advance(100ms);
    const time_point start = clock.now();
    peer.arrive(1);
    clock.run();
    EXPECT_EQ(how, io::errc::timed_out);
    root.request_close();
    clock.run();
    return clock.now() - start;
}

TEST(shorter_limit_test, IO_14_a_longer_limit_moves_the_timer) { EXPECT_EQ(waited(5s, 30s), 30s); }
TEST(shorter_limit_test, IO_14_a_shorter_limit_is_not_late) { EXPECT_EQ(waited(30s, 5s), 5s); }
TEST(shorter_limit_test, IO_14_a_limit_that_was_none) { EXPECT_EQ(waited(duration::max(), 5s), 5s); }

}  // namespace
