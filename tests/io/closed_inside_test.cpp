// A handle that another thread closes while an operation is inside a system call: the call ends as if the peer had done it.

#include <roost/io/stream.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// Is closed by its first call, which then returns what the kernel returns after a shutdown.
class closed_by_a_call final : public io::detail::pollable {
public:
    closed_by_a_call() noexcept : pollable(true) {}
    ~closed_by_a_call() = default;
    std::error_code attach(executor_ref, io::detail::direction) noexcept override { return {}; }
    io::detail::moved read(const iovec*, int) noexcept override {
        close();
        return {0, 0};
    }
    io::detail::moved write(const iovec*, int) noexcept override {
        close();
        return {-1, EPIPE};
    }
    int end_writing() noexcept override { return 0; }
    bool block(io::detail::direction, time_point) noexcept override { return true; }
    const char* name() const noexcept override { return "closed by a call"; }

private:
    void released() noexcept override {}
};

class its_stream final : public io::stream {
public:
    explicit its_stream(closed_by_a_call& on) noexcept : stream(io::detail::pollable_owner(&on)) {}
};

template <class Call>
void expect_closed(Call call) {
    closed_by_a_call peer;
    its_stream stream(peer);
    EXPECT_EQ(call(stream), io::errc::closed);
}

TEST(io_closed_inside, IO_13_the_end_of_a_closed_stream_is_not_the_peers) {
    std::array<char, 4> data{};
    std::string text;
    expect_closed([&](io::stream& s) { return s.read_some(data).blocking(1s).code(); });
    expect_closed([&](io::stream& s) { return s.read_exactly(data).blocking(1s).code(); });
    expect_closed([&](io::stream& s) { return s.read_until(text, "\n").blocking(1s).code(); });
}

TEST(io_closed_inside, IO_13_the_error_of_a_closed_stream_is_not_the_peers) {
    expect_closed([](io::stream& s) { return s.write_some("x").blocking(1s).code(); });
    expect_closed([](io::stream& s) { return s.write_all("x").blocking(1s).code(); });
    expect_closed([](io::stream& s) { return s.write_all("x", "y").blocking(1s).code(); });
}

}  // namespace
