#include "support.hpp"

#include <roost/io/udp_socket.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>

using namespace roost;
using namespace io_tests;

namespace {

io::udp_socket bound() { return io::udp_socket::bind(io::endpoint::loopback(0)).value(); }

task<> answer_twice(io::udp_socket& door) {
    for (int i = 0; i < 2; ++i) {
        std::array<char, 64> data{};
        const io::datagram got = co_await door.receive_from(data).or_throw();
        EXPECT_FALSE(got.is_truncated());
        co_await door.send_to(io::const_buffer(data.data(), got.size()), got.from()).or_throw();
    }
}
task<> ask_twice() {
    auto door = bound();
    EXPECT_EQ(door.peer(), io::endpoint());
    co_await with_scope(
        [](scope& s, io::udp_socket& to) -> task<> {
            s.launch("answer", answer_twice(to));
            auto client = bound();
            std::array<char, 64> data{};
            expect_equal(co_await client.send_to("first", to.local()).or_throw(), 5U);
            const io::datagram got = co_await client.receive_from(data).or_throw();
            EXPECT_EQ(std::string(data.data(), got.size()), "first");
            EXPECT_EQ(got.from(), to.local());
            expect_equal(co_await client.send_to("", to.local()).or_throw(), 0U);
            const io::datagram empty = co_await client.receive_from(data).or_throw();
            EXPECT_EQ(empty.size(), 0U) << "an empty datagram is one";
            EXPECT_EQ(empty.from(), to.local());
        },
        std::ref(door));
}
TEST(io_udp_socket, IO_45_datagrams_arrive_whole_with_their_sender) { on_each_host_run(&ask_twice); }

task<> keep_boundaries() {
    auto door = bound();
    auto client = bound();
    for (const char* text : {"one", "second", ""}) {
        co_await client.send_to(std::string_view(text), door.local()).or_throw();
    }
    std::array<char, 64> data{};
    for (const std::size_t size : {3U, 6U, 0U}) {
        const io::datagram got = co_await door.receive_from(data).or_throw();
        EXPECT_EQ(got.size(), size);
        EXPECT_EQ(got.from(), client.local());
    }
}
TEST(io_udp_socket, IO_45_each_receive_takes_one_datagram) { on_each_host_run(&keep_boundaries); }

task<> receive_into_too_little() {
    auto door = bound();
    auto client = io::udp_socket::connect(door.local()).value();
    std::array<char, 4> data{};
    co_await client.send("abcdefgh").or_throw();
    const io::datagram got = co_await door.receive_from(data).or_throw();
    EXPECT_TRUE(got.is_truncated());
    EXPECT_EQ(got.size(), 4U);
    EXPECT_EQ(std::string(data.data(), 4), "abcd");
    EXPECT_EQ(got.from(), client.local());

    co_await client.send("abcdefgh").or_throw();
    EXPECT_TRUE(door.set_peer(client.local()));
    const auto cut = co_await door.receive(data);
    EXPECT_EQ(cut.code(), std::errc::message_size);
    EXPECT_EQ(cut.transferred(), 4U);
    co_await client.send("abcd").or_throw();
    expect_equal(co_await door.receive(data).or_throw(), 4U, "it fits exactly");
}
TEST(io_udp_socket, IO_46_a_buffer_that_is_too_short_is_reported) { on_each_host_run(&receive_into_too_little); }

task<> talk_to_one_peer() {
    auto first = bound();
    auto second = io::udp_socket::connect(first.local()).value();
    EXPECT_TRUE(first.set_peer(second.local()));
    EXPECT_EQ(first.peer(), second.local());
    EXPECT_EQ(second.peer(), first.local());
    auto stranger = bound();
    co_await stranger.send_to("from a stranger", first.local()).or_throw();
    co_await second.send("from the peer").or_throw();
    std::array<char, 64> data{};
    const std::size_t n = co_await first.receive(data).or_throw();
    EXPECT_EQ(std::string(data.data(), n), "from the peer") << "other senders are ignored";
    co_await first.send("back").or_throw();
    expect_equal(co_await second.receive(data).or_throw(), 4U);
    EXPECT_TRUE(first.set_peer(io::endpoint()));
    EXPECT_EQ(first.peer(), io::endpoint());
    expect_equal((co_await first.send("to none")).code(), std::errc::destination_address_required);
}
TEST(io_udp_socket, IO_47_a_connected_socket_has_one_peer) { on_each_host_run(&talk_to_one_peer); }

task<> send_to_none() {
    io::endpoint gone;
    { gone = bound().local(); }
    auto client = io::udp_socket::connect(gone).value();
    co_await client.send("x").or_throw();
    std::array<char, 4> data{};
    expect_equal((co_await client.receive(data)).code(), std::errc::connection_refused);
}
TEST(io_udp_socket, IO_47_a_refused_datagram_is_an_error_of_the_next_operation) { on_each_host_run(&send_to_none); }

task<> receive_with_deadline() {
    auto door = bound();
    auto client = bound();
    std::array<char, 64> data{};
    expect_false(co_await move_on_after(5ms, door.receive_from(data)));
    co_await client.send_to("kept", door.local()).or_throw();
    expect_false(co_await move_on_after(0ms, door.receive_from(data)), "it does not start");
    expect_equal((co_await door.receive_from(data).or_throw()).size(), 4U, "no datagram was lost");
}
TEST(io_udp_socket, IO_48_a_cancelled_receive_takes_no_datagram) { on_each_host_run(&receive_with_deadline); }

task<> expect_closed(io::udp_socket& door) {
    std::array<char, 4> data{};
    expect_equal((co_await door.receive_from(data)).code(), io::errc::closed);
}
task<> close_beside_receive() {
    auto door = bound();
    co_await with_scope(
        [](scope& s, io::udp_socket& from) -> task<> {
            s.launch("receive", expect_closed(from));
            co_await sleep_for(5ms);
            from.close();
        },
        std::ref(door));
    EXPECT_FALSE(door.is_open());
    expect_equal((co_await door.send_to("x", io::endpoint::loopback(1))).code(), io::errc::closed);
    expect_equal((co_await door.send("x")).code(), io::errc::closed);
    EXPECT_EQ(door.set_peer(io::endpoint()).code(), io::errc::closed);
    EXPECT_EQ(door.local(), io::endpoint());
}
TEST(io_udp_socket, IO_48_close_ends_a_receive) { on_each_host_run(&close_beside_receive); }

TEST(io_udp_socket, IO_30_blocking_forms) {
    auto door = bound();
    auto client = bound();
    std::array<char, 8> data{};
    EXPECT_EQ(door.receive_from(data).blocking(5ms).code(), io::errc::timed_out);
    EXPECT_EQ(client.send_to("abc", door.local()).blocking(hang_limit).value(), 3U);
    EXPECT_EQ(door.receive_from(data).blocking(hang_limit)->size(), 3U);
}

TEST(io_udp_socket, IO_41_ipv6) {
    auto door = io::udp_socket::bind(io::endpoint::parse("[::1]:0").value());
    if (!door) {
        GTEST_SKIP() << "no IPv6: " << door.code().message();
    }
    auto client = io::udp_socket::connect(door->local()).value();
    EXPECT_EQ(client.send("abc").blocking(hang_limit).value(), 3U);
    std::array<char, 8> data{};
    const io::datagram got = door->receive_from(data).blocking(hang_limit).value();
    EXPECT_EQ(got.from(), client.local());
    EXPECT_EQ(got.from().family(), AF_INET6);
}

TEST(io_udp_socket, IO_45_errors_of_the_system) {
    const auto door = bound();
    EXPECT_EQ(io::udp_socket::bind(door.local()).code(), std::errc::address_in_use);
    EXPECT_EQ(io::udp_socket::bind(io::endpoint()).code(), std::errc::address_family_not_supported);
    EXPECT_EQ(io::udp_socket::bind(io::endpoint::parse("unix:/x").value()).code(), std::errc::address_family_not_supported);
    auto client = bound();
    const std::string big(70'000, 'x');
    EXPECT_EQ(client.send_to(big, door.local()).blocking(hang_limit).code(), std::errc::message_size);
}

}  // namespace
