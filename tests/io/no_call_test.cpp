// Operations that need no system call, on a stream that is never ready: they must not wait for it.

#include <roost/io/stream.hpp>

#include <roost/task/owned_scope.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace {

using namespace roost;
using io::detail::direction;
using io::detail::moved;

// Blocks in both directions, for ever.
class silent_peer final : public io::detail::pollable {
public:
    silent_peer() noexcept : pollable(false) {}
    ~silent_peer() = default;
    std::error_code attach(executor_ref, direction) noexcept override { return {}; }
    moved read(const iovec*, int) noexcept override { return {-1, EAGAIN}; }
    moved write(const iovec*, int) noexcept override { return {-1, EAGAIN}; }
    int end_writing() noexcept override { return 0; }
    bool block(direction, time_point) noexcept override { return false; }
    const char* name() const noexcept override { return "silent"; }

private:
    void released() noexcept override {}
};

class silent_stream final : public io::stream {
public:
    explicit silent_stream(silent_peer& peer) noexcept : stream(io::detail::pollable_owner(&peer)) {}
};

class no_call_test : public ::testing::Test {
protected:
    void TearDown() override {
        root.cancel();
        root.request_close();
        clock.run();
    }

    // Returns true if the task ends without an event.
    [[nodiscard]] bool ends(task<> t) {
        const job j = root.launch("test", std::move(t));
        clock.run();
        return j.state() == job_state::completed;
    }

    testing::virtual_time clock;
    owned_scope root{clock, scope_options("root").report_failures()};
    silent_peer peer;
    silent_stream stream{peer};
    std::string data;
    io::result<std::size_t> got{std::error_code(EAGAIN, std::system_category())};
};

task<> read_line(io::stream& from, std::string& data, std::size_t limit, io::result<std::size_t>& got) {
    got = co_await from.read_until(data, "\n", limit);
}
task<> read_nothing(io::stream& from) {
    static_cast<void>(co_await from.read_some(io::mutable_buffer()));
    static_cast<void>(co_await from.read_exactly(io::mutable_buffer()).or_throw());
}
task<> write_nothing(io::stream& to) {
    static_cast<void>(co_await to.write_all(std::string()));
    static_cast<void>(co_await to.write_all(io::const_buffer(), io::const_buffer()).or_throw());
}

TEST_F(no_call_test, IO_22_a_line_that_was_read_with_the_one_before_is_there_at_once) {
    data = "two\nthree";
    ASSERT_TRUE(ends(read_line(stream, data, 100, got)));
    EXPECT_EQ(*got, 4U);
    EXPECT_EQ(data, "two\nthree");
}

TEST_F(no_call_test, IO_22_what_is_too_long_already_is_refused_at_once) {
    data = "a line without an end";
    EXPECT_TRUE(ends(read_line(stream, data, 10, got)));
    EXPECT_EQ(got.code(), io::errc::too_long);
    data = "a line with an end\n";
    EXPECT_TRUE(ends(read_line(stream, data, 10, got)));
    EXPECT_EQ(got.code(), io::errc::too_long);
}

TEST_F(no_call_test, IO_20_an_empty_buffer_is_read_and_written_at_once) {
    EXPECT_TRUE(ends(read_nothing(stream)));
    EXPECT_TRUE(ends(write_nothing(stream)));
}

TEST_F(no_call_test, IO_22_but_a_part_of_a_line_is_not_enough) {
    data = "two";
    EXPECT_FALSE(ends(read_line(stream, data, 100, got)));
}

}  // namespace
