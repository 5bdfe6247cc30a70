#include "resp.hpp"

#include <gtest/gtest.h>

#include "read_requests.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using kv_testing::array_of;
using kv_testing::read_pieces;
using kv_testing::reading;
using kv_testing::request;
using namespace std::string_literals;
using namespace std::string_view_literals;

reading read(std::string_view bytes) { return read_pieces(bytes, {}); }

// One of each kind of request, whole, cut off and malformed.
const std::vector<std::string>& corpus() {
    static const std::vector<std::string> all = {
        "*1\r\n$4\r\nPING\r\n",
        "*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$5\r\n\0\r\n$1\r\n"s,
        "*2\r\n$3\r\nGET\r\n$0\r\n\r\n*1\r\n$4\r\nQUIT\r\n",
        "PING\r\n",
        "PING\nECHO a\n",
        "  SET k\t v \r\n\r\n\n",
        "\r\n*0\r\n*-1\r\nPING\r\n",
        "*2\r\n$3\r\nGET\r\n$1",
        "*1\r\n$4\r\nPIN",
        "ECHO unfinished",
        "*x\r\nPING\r\n",
        "*1\n$4\r\nPING\r\n",
        "*1\r\n+4\r\nPING\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n$4\nPING\r\n",
        "PING\r\n*1\r\n$99999999999999999999\r\n",
    };
    return all;
}

TEST(resp, reads_arrays_of_bulk_strings) {
    const reading got = read("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
    EXPECT_EQ(got.requests, (std::vector<request>{{"SET", "k", ""}}));
    EXPECT_EQ(got.error, "");
    EXPECT_TRUE(got.is_idle);
}

TEST(resp, arguments_are_bytes) {
    std::string all;
    for (int c = 0; c < 256; ++c) {
        all.push_back(static_cast<char>(c));
    }
    const request sent = {"SET", all, "\r\n*1\r\n$4\r\nPING\r\n"};
    EXPECT_EQ(read(array_of(sent)).requests, (std::vector<request>{sent}));
}

TEST(resp, reads_inline_requests) {
    EXPECT_EQ(read("PING\r\n").requests, (std::vector<request>{{"PING"}}));
    EXPECT_EQ(read("  SET\tk   v\n").requests, (std::vector<request>{{"SET", "k", "v"}}));
    EXPECT_EQ(read("SET a\"b c\" \r\n").requests, (std::vector<request>{{"SET", "a\"b", "c\""}}));  // no quotes
}

TEST(resp, empty_requests_have_no_reply) {
    const reading got = read("\r\n\n  \r\n*0\r\n*-1\r\nPING\r\n\n");
    EXPECT_EQ(got.requests, (std::vector<request>{{"PING"}}));
    EXPECT_TRUE(got.is_idle);
}

TEST(resp, one_read_may_bring_many_requests) {
    const reading got = read(array_of({"SET", "k", "v"}) + "PING\r\n" + array_of({"GET", "k"}) + "*1\r\n$4\r\nQU");
    EXPECT_EQ(got.requests, (std::vector<request>{{"SET", "k", "v"}, {"PING"}, {"GET", "k"}}));
    EXPECT_FALSE(got.is_idle);
}

TEST(resp, malformed_requests_are_named_and_end_the_reading) {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"*x\r\n", "invalid multibulk length"},
        {"*\r\n", "invalid multibulk length"},
        {"*01\r\n", "invalid multibulk length"},
        {"*+1\r\n", "invalid multibulk length"},
        {"*-0\r\n", "invalid multibulk length"},
        {"*1 \r\n", "invalid multibulk length"},
        {"*1\n", "invalid multibulk length"},
        {"*12\n", "invalid multibulk length"},
        {"*1048577\r\n", "invalid multibulk length"},
        {"*9223372036854775808\r\n", "invalid multibulk length"},
        {"*1\r\n+4\r\n", "invalid bulk length"},
        {"*1\r\n\r\n", "invalid bulk length"},
        {"*1\r\nPING\r\n", "invalid bulk length"},
        {"*1\r\n$\r\n", "invalid bulk length"},
        {"*1\r\n$-1\r\n", "invalid bulk length"},
        {"*1\r\n$04\r\n", "invalid bulk length"},
        {"*1\r\n$4x\r\n", "invalid bulk length"},
        {"*1\r\n$44\n", "invalid bulk length"},
        {"*1\r\n$536870912\r\n", "invalid bulk length"},
        {"*1\r\n$9223372036854775807\r\n", "invalid bulk length"},
    };
    for (const auto& [bytes, error] : rows) {
        const reading got = read("PING\r\n"s.append(bytes).append("PING\r\n"));
        EXPECT_EQ(got.error, "-ERR Protocol error: "s.append(error) + "\r\n") << bytes;
        EXPECT_EQ(got.requests, (std::vector<request>{{"PING"}})) << bytes;  // nothing behind the fault is executed
    }
}

TEST(resp, a_line_has_at_most_64_kilobytes) {
    const std::string most(65535, 'x');
    EXPECT_EQ(read(most + "\n").requests, (std::vector<request>{{most}}));
    EXPECT_EQ(read(most + "x").error, "-ERR Protocol error: too long line\r\n");
    EXPECT_EQ(read(most + "x\n").error, "-ERR Protocol error: too long line\r\n");
    EXPECT_EQ(read("*" + std::string(65535, '1')).error, "-ERR Protocol error: too long line\r\n");
    EXPECT_EQ(read("*1\r\n$" + std::string(65535, '1')).error, "-ERR Protocol error: too long line\r\n");
    EXPECT_EQ(read("*" + std::string(65534, '1')).error, "");
}

TEST(resp, a_length_above_the_limit_is_refused_before_memory_is_taken) {
    kv::request_reader in;
    kv_testing::arrive(in, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n", '\n');
    const std::size_t room = in.room().size();
    EXPECT_FALSE(in.next());
    EXPECT_EQ(in.error(), "-ERR Protocol error: invalid bulk length\r\n");
    EXPECT_EQ(in.room().size(), room);

    kv::request_reader patient;  // within the limit, memory is taken for bytes, not for promises
    kv_testing::arrive(patient, "*2\r\n$3\r\nGET\r\n$67000000\r\n", '\n');
    EXPECT_FALSE(patient.next());
    EXPECT_EQ(patient.error(), "");
    EXPECT_LE(patient.room().size(), std::size_t{16} << 10);
}

TEST(resp, the_limit_is_on_all_bytes_of_a_request) {
    constexpr std::size_t limit = 64 << 20;
    const std::string most = "*2\r\n$" + std::to_string(limit - 40) + "\r\n" + std::string(limit - 40, 'k') + "\r\n$";
    EXPECT_EQ(read(most + "18\r\n").error, "");
    EXPECT_EQ(read(most + "19\r\n").error, "-ERR Protocol error: invalid bulk length\r\n");
    EXPECT_EQ(read("PING\r\n*1\r\n$" + std::to_string(limit) + "\r\n").error,
              "-ERR Protocol error: invalid bulk length\r\n");
}

TEST(resp, the_capacity_is_that_of_the_longest_request) {
    kv::request_reader in;
    EXPECT_EQ(in.capacity(), 0U);
    kv_testing::arrive(in, "PING\r\n", 'x');
    EXPECT_LE(in.capacity(), std::size_t{16} << 10);
    EXPECT_TRUE(in.next());
    EXPECT_FALSE(in.next());
    kv_testing::arrive(in, array_of({"SET", "k", std::string(1'000'000, 'v')}), 'x');
    EXPECT_TRUE(in.next());
    EXPECT_GE(in.capacity(), 1'000'000U);
    EXPECT_LE(in.capacity(), 3'000'000U);
}

// All ways to cut short inputs, all pairs of cuts in longer ones.
TEST(resp, pieces_are_read_as_the_whole) {
    for (const std::string& bytes : corpus()) {
        const reading whole = read(bytes);
        const std::size_t places = bytes.size() - 1;
        if (places <= 12) {
            for (std::uint32_t cuts = 0; cuts < 1U << places; ++cuts) {
                std::vector<std::size_t> sizes(1, 1);
                for (std::size_t i = 0; i < places; ++i) {
                    (cuts >> i & 1) != 0 ? sizes.push_back(1) : static_cast<void>(++sizes.back());
                }
                ASSERT_EQ(read_pieces(bytes, sizes, 'x'), whole) << bytes << ", cuts " << cuts;
            }
        }
        for (std::size_t first = 0; first <= bytes.size(); ++first) {
            for (std::size_t second = 0; first + second <= bytes.size(); ++second) {
                ASSERT_EQ(read_pieces(bytes, {first, second}, 'x'), whole) << bytes << ", " << first << " and " << second;
            }
        }
        ASSERT_EQ(read_pieces(bytes, std::vector<std::size_t>(bytes.size(), 1), '$'), whole) << bytes;
    }
}

TEST(resp, a_long_pipeline_may_be_cut_anywhere) {
    std::string bytes;
    std::vector<request> sent;
    for (std::size_t i = 0; i < 3000; ++i) {
        sent.push_back({"SET", "key:" + std::to_string(i), std::string(i * 7919 % 1500, static_cast<char>('a' + i % 26))});
        bytes += array_of(sent.back());
    }
    for (const std::size_t size : {1UL, 61UL, 4096UL, 100'000UL}) {
        const reading got = read_pieces(bytes, std::vector<std::size_t>(bytes.size() / size, size), '\r');
        EXPECT_TRUE(got.requests == sent) << "pieces of " << size;
        EXPECT_TRUE(got.is_idle);
    }
}

// Bytes move when the buffer grows, and only then. The number of moves does not depend on the number of pieces.
TEST(resp, a_long_value_in_single_bytes_is_moved_few_times) {
    const std::string value(std::size_t{1} << 20, 'v');
    const std::string bytes = array_of({"SET", "k", value});
    kv::request_reader in;
    int moves = 0;
    const char* expected = nullptr;
    for (const char c : bytes) {
        EXPECT_FALSE(in.next());
        const auto room = in.room();
        moves += room.data() != expected ? 1 : 0;
        room[0] = c;
        in.filled(1);
        expected = room.data() + 1;
    }
    ASSERT_TRUE(in.next());
    EXPECT_EQ(in.request()[2], value);
    EXPECT_LE(moves, 9);
}

// Reading each argument again for every byte would take hours.
TEST(resp, many_arguments_in_single_bytes_are_read_once) {
    const request sent(200'000, "a");
    const std::string bytes = array_of(sent);
    const reading got = read_pieces(bytes, std::vector<std::size_t>(bytes.size(), 1));
    ASSERT_EQ(got.requests.size(), 1U);
    EXPECT_TRUE(got.requests[0] == sent);
}

TEST(resp, a_reader_between_requests_is_idle) {
    kv::request_reader in;
    EXPECT_TRUE(in.is_idle());
    for (const std::string_view piece : {"*1\r\n"sv, "$4\r\n"sv, "PING\r"sv}) {
        kv_testing::arrive(in, piece, 'x');
        EXPECT_FALSE(in.next());
        EXPECT_FALSE(in.is_idle()) << piece;
    }
    kv_testing::arrive(in, "\n", 'x');
    EXPECT_TRUE(in.next());
    EXPECT_FALSE(in.next());
    EXPECT_TRUE(in.is_idle());

    const char* const begin = in.room().data();  // it uses the same memory again
    kv_testing::arrive(in, "PING\r\n", 'x');
    EXPECT_TRUE(in.next());
    EXPECT_FALSE(in.next());
    EXPECT_EQ(in.room().data(), begin);
}

TEST(resp, integers_are_written_as_redis_does) {
    const auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(kv::to_integer("0"), 0);
    EXPECT_EQ(kv::to_integer("-12"), -12);
    EXPECT_EQ(kv::to_integer("9223372036854775807"), most);
    EXPECT_EQ(kv::to_integer("-9223372036854775808"), -most - 1);
    for (const auto wrong : {""sv, "-"sv, "+1"sv, "01"sv, "-0"sv, "-01"sv, " 1"sv, "1 "sv, "1.0"sv, "0x1"sv, "1\0"sv,
                             "9223372036854775808"sv}) {
        EXPECT_EQ(kv::to_integer(wrong), std::nullopt) << wrong;
    }
}

}  // namespace
