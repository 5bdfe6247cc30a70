#include <roost/io/endpoint.hpp>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <array>
#include <string>

using namespace roost;

namespace {

TEST(io_endpoint, IO_6_texts_and_addresses_correspond) {
    for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:443", "[2001:db8::7]:1",
                             "unix:/run/app.sock", "unix:relative", "unix:@abstract"}) {
        const auto parsed = io::endpoint::parse(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(parsed->to_string(), text);
        EXPECT_EQ(*parsed, io::endpoint::from(parsed->data(), parsed->size()));
    }
    EXPECT_EQ(io::endpoint::parse("127.0.0.1:8080")->port(), 8080);
    EXPECT_EQ(io::endpoint::parse("127.0.0.1:8080")->family(), AF_INET);
    EXPECT_EQ(io::endpoint::parse("[::1]:443")->port(), 443);
    EXPECT_EQ(io::endpoint::parse("[::1]:443")->family(), AF_INET6);
    EXPECT_EQ(io::endpoint::parse("unix:/a")->family(), AF_UNIX);
    EXPECT_EQ(io::endpoint::parse("unix:/a")->port(), 0);
}

TEST(io_endpoint, IO_6_other_texts_are_no_address) {
    for (const char* text : {"", ":", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
                             "127.0.0.1:+80", "127.0.0.1:80 ", "127.0.0:80", "::1:80", "[::1]", "[::1:80", "localhost:80",
                             "[127.0.0.1]:80", "unix:", "[]:80", "[1111:2222:3333:4444:5555:6666:7777:8888:9999:0000]:80"}) {
        EXPECT_EQ(io::endpoint::parse(text).code(), io::errc::no_address) << text;
    }
}

TEST(io_endpoint, IO_6_endpoints_of_no_kind) {
    const io::endpoint none;
    EXPECT_EQ(none.family(), AF_UNSPEC);
    EXPECT_EQ(none.port(), 0);
    EXPECT_EQ(none.to_string(), "no address");
    EXPECT_EQ(none, io::endpoint());
    EXPECT_NE(none, io::endpoint::loopback(1));
}

TEST(io_endpoint, IO_6_a_mapped_address_prints_as_ipv4) {
    sockaddr_in6 a{};
    a.sin6_family = AF_INET6;
    a.sin6_port = htons(80);
    const unsigned char mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 7};
    std::copy(std::begin(mapped), std::end(mapped), a.sin6_addr.s6_addr);
    EXPECT_EQ(io::endpoint::from(reinterpret_cast<const sockaddr*>(&a), sizeof a).to_string(), "10.0.0.7:80");
}

TEST(io_endpoint, IO_7_a_path_has_at_most_107_bytes) {
    const std::string longest(107, 'a');
    ASSERT_TRUE(io::endpoint::unix_path(longest));
    EXPECT_EQ(io::endpoint::unix_path(longest)->to_string(), "unix:" + longest);
    EXPECT_EQ(io::endpoint::unix_path(longest + "a").code(), io::errc::no_address);
    EXPECT_EQ(io::endpoint::unix_path("").code(), io::errc::no_address);
    EXPECT_EQ(io::endpoint::parse("unix:@" + longest).code(), io::errc::no_address);
    EXPECT_EQ(io::endpoint::unix_path(std::string_view("a\0b", 3)).code(), io::errc::no_address);
}

TEST(io_endpoint, IO_7_a_zero_byte_begins_an_abstract_name) {
    const auto made = io::endpoint::unix_path(std::string_view("\0name", 5));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->to_string(), "unix:@name");
    EXPECT_EQ(*made, *io::endpoint::parse("unix:@name"));
    EXPECT_NE(*made, *io::endpoint::parse("unix:name"));
}

TEST(io_endpoint, IO_8_loopback_and_every_address) {
    EXPECT_EQ(io::endpoint::loopback(80).to_string(), "127.0.0.1:80");
    const io::endpoint any = io::endpoint::any(80);
    EXPECT_EQ(any.port(), 80);
    EXPECT_TRUE(any.to_string() == "[::]:80" || any.to_string() == "0.0.0.0:80") << any.to_string();
    EXPECT_EQ(*io::endpoint::parse("*:80"), any);
}

TEST(io_endpoint, IO_6_printing_is_cut_to_the_room) {
    std::array<char, 8> room{};
    EXPECT_EQ(io::endpoint::loopback(80).print(room.data(), room.size()), 7U);
    EXPECT_STREQ(room.data(), "127.0.0");
    EXPECT_EQ(io::endpoint::loopback(80).print(nullptr, 0), 0U);
}

}  // namespace
