#include <roost/io/buffer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace roost;

namespace {

TEST(io_buffer, IO_5_ranges_of_bytes_are_buffers) {
    std::string text = "abc";
    std::array<char, 4> letters{};
    std::vector<unsigned char> numbers(5);
    std::byte raw[6]{};
    EXPECT_EQ(io::mutable_buffer(text).size(), 3U);
    EXPECT_EQ(io::mutable_buffer(text).data(), text.data());
    EXPECT_EQ(io::mutable_buffer(letters).size(), 4U);
    EXPECT_EQ(io::mutable_buffer(numbers).size(), 5U);
    EXPECT_EQ(io::mutable_buffer(raw).size(), 6U);
    EXPECT_EQ(io::mutable_buffer(std::span<std::byte>(raw).subspan(2)).size(), 4U);

    EXPECT_EQ(io::const_buffer(text).data(), text.data());
    EXPECT_EQ(io::const_buffer(std::string_view("hello")).size(), 5U);
    const std::vector<char> constant(7);
    EXPECT_EQ(io::const_buffer(constant).size(), 7U);
    EXPECT_EQ(io::const_buffer().size(), 0U);
    EXPECT_EQ(io::mutable_buffer().size(), 0U);
}

TEST(io_buffer, IO_5_a_literal_is_written_without_its_zero_byte) { EXPECT_EQ(io::const_buffer("line\n").size(), 5U); }

TEST(io_buffer, IO_5_what_is_constant_or_wider_than_a_byte_is_no_mutable_buffer) {
    static_assert(!std::is_constructible_v<io::mutable_buffer, const std::string&>);
    static_assert(!std::is_constructible_v<io::mutable_buffer, std::vector<int>&>);
    static_assert(!std::is_constructible_v<io::const_buffer, const std::vector<int>&>);
    static_assert(std::is_constructible_v<io::mutable_buffer, std::string&>);
}

TEST(io_buffer, IO_5_the_part_behind_a_number_of_bytes) {
    std::string text = "abcdef";
    const io::mutable_buffer rest = io::mutable_buffer(text).after(4);
    EXPECT_EQ(rest.size(), 2U);
    EXPECT_EQ(*rest.data(), 'e');
}

}  // namespace
