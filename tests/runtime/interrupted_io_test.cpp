// interrupt() around an operation of a stream. A stop may come between an event and the moment at which the operation looks.

#include <roost/io/stream.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>

namespace {

using namespace roost;
using io::detail::direction;
using io::detail::moved;

class memory_peer final : public io::detail::pollable {
public:
    memory_peer() noexcept : pollable(false) {}
    ~memory_peer() = default;

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
    const char* name() const noexcept override { return "memory"; }

private:
    void released() noexcept override {}
    std::size_t there_ = 0;
};

class memory_stream final : public io::stream {
public:
    explicit memory_stream(memory_peer& peer) noexcept : stream(io::detail::pollable_owner(&peer)) {}
};

task<> read_once(const roost::shutdown& server, io::stream& from, std::string& said) {
    std::array<char, 4> to{};
    const auto got = co_await server.interrupt(from.read_some(to));
    said = !got ? "stopped" : *got ? "read " + std::to_string(**got) : got->code().message();
}

class interrupted_io_test : public ::testing::Test {
protected:
    void SetUp() override {
        reader = root.launch("reader", read_once(server, stream, said));
        clock.run();
        ASSERT_EQ(reader.state(), job_state::active);
    }
    void TearDown() override {
        root.request_close();
        clock.run();
    }

    testing::virtual_time clock;
    owned_scope root{clock, scope_options("root").report_failures()};
    roost::shutdown server{"server"};
    memory_peer peer;
    memory_stream stream{peer};
    std::string said;
    job reader;
};

TEST_F(interrupted_io_test, SHUT_21_a_stop_ends_the_wait) {
    static_cast<void>(server.shut_down());
    clock.run();
    EXPECT_EQ(said, "stopped");
}

TEST_F(interrupted_io_test, IO_17_data_that_came_first_is_returned) {
    peer.arrive(2);
    static_cast<void>(server.shut_down());
    clock.run();
    EXPECT_EQ(said, "read 2");
}

TEST_F(interrupted_io_test, IO_16_an_event_without_data_is_none) {
    peer.arrive(0);
    static_cast<void>(server.shut_down());
    clock.run();
    EXPECT_EQ(reader.state(), job_state::completed) << "only the wait was to end, not the job";
    EXPECT_EQ(said, "stopped");
}

}  // namespace
