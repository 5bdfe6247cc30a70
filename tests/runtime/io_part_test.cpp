// An operation that has transferred a part when it is cancelled, at each moment before it waits: the part is not lost.

#include <roost/io/stream.hpp>

#include <roost/shutdown/interrupt.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <functional>

namespace {

using namespace roost;
using io::detail::direction;
using io::detail::moved;

// Has one byte, and runs a function while that is read.
class one_byte final : public io::detail::pollable {
public:
    one_byte() noexcept : pollable(true) {}
    ~one_byte() = default;
    std::function<void()> during_read;

    std::error_code attach(executor_ref, direction) noexcept override { return {}; }
    moved read(const iovec* to, int) noexcept override {
        if (!has_byte_) {
            return {-1, EAGAIN};
        }
        has_byte_ = false;
        *static_cast<char*>(to->iov_base) = 'x';
        during_read();
        return {1, 0};
    }
    moved write(const iovec*, int) noexcept override { return {-1, EAGAIN}; }
    int end_writing() noexcept override { return 0; }
    bool block(direction, time_point) noexcept override { return false; }
    const char* name() const noexcept override { return "one byte"; }

private:
    void released() noexcept override {}
    bool has_byte_ = true;
};

class one_byte_stream final : public io::stream {
public:
    explicit one_byte_stream(one_byte& peer) noexcept : stream(io::detail::pollable_owner(&peer)) {}
};

class part_of_an_operation : public ::testing::Test {
protected:
    void run(task<> t) {
        root.launch("test", std::move(t));
        clock.run();
        root.request_close();
        clock.run();
    }
    testing::virtual_time clock;
    owned_scope root{clock, scope_options("root").report_failures()};
    one_byte peer;
    one_byte_stream stream{peer};
    std::size_t transferred = 99;
    std::error_code code;
};

task<> read_in_scope(scope& s, one_byte& peer, io::stream& from, std::size_t& n, std::error_code& code) {
    std::array<char, 4> to{};
    peer.during_read = [&s] { s.cancel(); };
    const io::result<std::size_t> got = co_await from.read_exactly(to);
    n = got.transferred();
    code = got.code();
}
task<> read_in_cancelled_scope(one_byte& peer, io::stream& from, std::size_t& n, std::error_code& code) {
    static_cast<void>(
        co_await as_outcome(with_scope(read_in_scope, std::ref(peer), std::ref(from), std::ref(n), std::ref(code))));
}

TEST_F(part_of_an_operation, IO_17_survives_a_cancelled_scope_before_the_wait) {
    run(read_in_cancelled_scope(peer, stream, transferred, code));
    EXPECT_EQ(transferred, 1U);
    EXPECT_EQ(code, io::errc::cancelled);
}

task<> read_until_stop(roost::shutdown& stop, one_byte& peer, io::stream& from, std::size_t& n, std::error_code& code) {
    std::array<char, 4> to{};
    peer.during_read = [&stop] { stop.shut_down(); };
    const auto got = co_await stop.interrupt(from.read_exactly(to));
    n = got ? got->transferred() : 0;
    code = got ? got->code() : std::error_code();
}

TEST_F(part_of_an_operation, IO_17_survives_a_stop_before_the_wait) {
    roost::shutdown stop("service");
    run(read_until_stop(stop, peer, stream, transferred, code));
    EXPECT_EQ(transferred, 1U);
    EXPECT_EQ(code, io::errc::cancelled);
}

task<> read_in_job(one_byte& peer, io::stream& from, owned_scope& all, std::size_t& n) {
    std::array<char, 4> to{};
    peer.during_read = [&all] { all.cancel(); };
    n = 0;
    static_cast<void>(co_await from.read_exactly(to));
    n = 2;
}

// The whole job is cancelled: it ends.
TEST_F(part_of_an_operation, IO_17_ends_with_its_job) {
    run(read_in_job(peer, stream, root, transferred));
    EXPECT_EQ(transferred, 0U);
}

}  // namespace
