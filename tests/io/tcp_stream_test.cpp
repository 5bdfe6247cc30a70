#include "support.hpp"

#include <roost/io/tcp_stream.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>

using namespace roost;
using namespace io_tests;

namespace {

task<> connect_and_talk() {
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    auto client = co_await io::tcp_stream::connect(door.local()).or_throw();
    auto server = co_await door.accept().or_throw();
    EXPECT_EQ(client.peer(), door.local());
    EXPECT_EQ(client.local(), server.peer());
    co_await server.write_all("hello").or_throw();
    std::array<char, 5> data{};
    co_await client.read_exactly(data).or_throw();
    for (const int fd : {client.native_handle(), server.native_handle()}) {
        int is_on = 0;
        socklen_t size = sizeof is_on;
        EXPECT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &is_on, &size), 0);
        EXPECT_NE(is_on, 0) << "small messages are sent at once";
    }
}
TEST(io_tcp_stream, IO_38_connect) { on_each_host_run(&connect_and_talk); }

task<> connect_to_none() {
    io::endpoint gone;
    { gone = io::tcp_listener::bind(io::endpoint::loopback(0)).value().local(); }
    const int before = open_descriptors();
    const auto refused = co_await io::tcp_stream::connect(gone);
    EXPECT_EQ(refused.code(), std::errc::connection_refused) << refused.code().message();
    const auto unreachable = co_await io::tcp_stream::connect(io::endpoint::parse("255.255.255.255:80").value());
    EXPECT_EQ(unreachable.code(), std::errc::network_unreachable) << unreachable.code().message();
    const auto nowhere = co_await io::tcp_stream::connect(io::endpoint());
    EXPECT_EQ(nowhere.code(), std::errc::address_family_not_supported) << nowhere.code().message();
    EXPECT_EQ(open_descriptors(), before);
}
TEST(io_tcp_stream, IO_38_errors_of_connect) {
    on_each_host([](host& where) {
        where.run(connect_and_talk());  // so that the driver exists
        where.run(connect_to_none());
    });
}

// A listener that answers no further connection.
class full_listener {
public:
    full_listener() : door_(io::tcp_listener::bind(io::endpoint::loopback(0), io::listen_options().backlog(0)).value()) {
        for (;;) {
            auto made = io::tcp_stream::connect(door_.local()).blocking(20ms);
            if (!made) {
                return;
            }
            waiting_.push_back(std::move(*made));
        }
    }
    [[nodiscard]] io::endpoint local() const { return door_.local(); }

private:
    io::tcp_listener door_;
    std::vector<io::tcp_stream> waiting_;
};

task<> connect_in_vain(const io::endpoint& to) {
    const int before = open_descriptors();
    expect_false(co_await move_on_after(5ms, io::tcp_stream::connect(to)));
    bool timed = false;
    try {
        static_cast<void>(co_await fail_after(5ms, io::tcp_stream::connect(to)));
    } catch (const timed_out&) {
        timed = true;
    }
    EXPECT_TRUE(timed);
    co_await with_scope(
        [](scope& s, io::endpoint at) -> task<> {
            job connecting = s.launch("connect", io::tcp_stream::connect(at));
            co_await sleep_for(5ms);
            connecting.cancel();
        },
        to);
    EXPECT_EQ(open_descriptors(), before) << "the socket is closed with the operation";
}
TEST(io_tcp_stream, IO_39_a_deadline_or_cancel_ends_a_connect) {
    const full_listener silent;
    on_each_host([&silent](host& where) {
        where.run(connect_and_talk());
        where.run(connect_in_vain(silent.local()));
    });
    EXPECT_EQ(io::tcp_stream::connect(silent.local()).blocking(5ms).code(), io::errc::timed_out);
}

// A coroutine that its owner destroys.
class owned_connect {
public:
    class promise_type {
    public:
        explicit promise_type(executor_ref where, const io::endpoint&) noexcept : where_(where) {}
        [[nodiscard]] executor_ref get_executor() const noexcept { return where_; }
        owned_connect get_return_object() noexcept {
            return owned_connect(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }

    private:
        executor_ref where_;
    };
    explicit owned_connect(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    owned_connect(const owned_connect&) = delete;
    owned_connect& operator=(const owned_connect&) = delete;
    ~owned_connect() { handle_.destroy(); }
    [[nodiscard]] bool is_waiting() const noexcept { return !handle_.done(); }

private:
    std::coroutine_handle<promise_type> handle_;
};
owned_connect connect_once(executor_ref, const io::endpoint& to) { static_cast<void>(co_await io::tcp_stream::connect(to)); }

TEST(io_tcp_stream, IO_39_a_frame_that_waits_for_a_connect_may_be_destroyed) {
    const full_listener silent;
    loop here("loop");
    const io::endpoint to = silent.local();
    {
        const owned_connect first = connect_once(here, to);  // makes the driver
    }
    const int before = open_descriptors();
    {
        const owned_connect second = connect_once(here, to);
        EXPECT_TRUE(second.is_waiting());
    }
    EXPECT_EQ(here.poll(), 0U) << "no wake of the frame is left";
    EXPECT_EQ(open_descriptors(), before);
}

TEST(io_tcp_stream, IO_29_streams_can_be_moved_while_they_are_open) {
    tcp_pair both = connected();
    io::tcp_stream moved = std::move(both.client);
    EXPECT_TRUE(moved.is_open());
    EXPECT_TRUE(moved.write_all("x").blocking(hang_limit));
    std::vector<io::tcp_stream> many;
    many.push_back(std::move(moved));
    many.emplace_back();
    std::array<char, 1> data{};
    EXPECT_TRUE(both.server.read_exactly(data).blocking(hang_limit));
    many.clear();
    EXPECT_EQ(both.server.read_some(data).blocking(hang_limit).value(), 0U);
}

}  // namespace
