// The header that includes all of the layer.

#include <roost/io/io.hpp>

#include <gtest/gtest.h>

#include <type_traits>

using namespace roost;

namespace {

// Each public class can be named and handed on.
template <class... T>
constexpr bool all_movable =
    (std::is_nothrow_move_constructible_v<T> && ...) && (std::is_nothrow_move_assignable_v<T> && ...);

TEST(io_header, IO_29_handles_move_without_throwing) {
    static_assert(all_movable<io::tcp_stream, io::unix_stream, io::pipe_stream, io::tcp_listener, io::unix_listener,
                              io::udp_socket, io::descriptor, io::endpoint>);
    static_assert(!std::is_copy_constructible_v<io::tcp_stream> && !std::is_copy_constructible_v<io::unix_listener>);
    EXPECT_FALSE(io::tcp_stream().is_open());
    EXPECT_FALSE(io::unix_stream().is_open());
    EXPECT_FALSE(io::pipe_stream().is_open());
    EXPECT_FALSE(io::tcp_listener().is_open());
    EXPECT_FALSE(io::unix_listener().is_open());
    EXPECT_FALSE(io::udp_socket().is_open());
    EXPECT_FALSE(io::descriptor().is_open());
}

}  // namespace
