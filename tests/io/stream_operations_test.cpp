// How a stream's operations deal with pieces.

#include "support.hpp"

#include <roost/io/detail/stream_operations.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/with_scope.hpp>

#include <fcntl.h>
#include <fstream>

using namespace roost;
using namespace io_tests;

namespace {

task<> write_bytes(io::tcp_stream& to, std::string_view text) {
    for (const char c : text) {
        co_await to.write_all(io::const_buffer(&c, 1)).or_throw();
        co_await sleep_for(std::chrono::microseconds(200));
    }
    to.close();
}
task<> read_a_trickle() {
    tcp_pair both = connected();
    const std::string text = "first line\r\nsecond\r\n0123456789rest";
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& all) -> task<> {
            s.launch("writer", write_bytes(pair.client, all));
            std::string data;
            expect_equal(co_await pair.server.read_until(data, "\r\n").or_throw(), 12U);
            data.erase(0, 12);
            expect_equal(co_await pair.server.read_until(data, "\r\n").or_throw(), 8U);
            data.erase(0, 8);
            std::string number(10, '\0');
            const std::size_t early = data.copy(number.data(), number.size());
            co_await pair.server.read_exactly(io::mutable_buffer(number).after(early)).or_throw();
            EXPECT_EQ(number, "0123456789");
            std::string rest(100, '\0');
            const auto end = co_await pair.server.read_exactly(rest);
            EXPECT_EQ(end.code(), io::errc::end_of_stream);
            EXPECT_EQ(end.transferred(), 4U);
        },
        std::ref(both), std::cref(text));
}
TEST(io_stream_operations, IO_28_a_peer_that_sends_one_byte_at_a_time) { on_each_host_run(&read_a_trickle); }

task<> write_much(io::tcp_stream& to, const std::string& text) {
    expect_equal(co_await to.write_all(text).or_throw(), text.size());
    to.close();
}
task<> read_slowly() {
    tcp_pair both = connected();
    const std::string text = pattern(10'000'000);
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& all) -> task<> {
            s.launch("writer", write_much(pair.client, all));
            std::string got;
            std::string piece(100'000, '\0');
            for (int i = 0;; ++i) {
                const std::size_t n = co_await pair.server.read_some(piece).or_throw();
                if (n == 0) {
                    break;
                }
                got.append(piece, 0, n);
                if (i % 16 == 0) {
                    co_await sleep_for(1ms);
                }
            }
            EXPECT_TRUE(got == all);
        },
        std::ref(both), std::cref(text));
}
TEST(io_stream_operations, IO_28_a_slow_reader_gets_ten_megabytes) { on_each_host_run(&read_slowly); }

task<> write_here_and_there(io::tcp_stream& to, const std::string& text) {
    co_await to.write_all(text).or_throw();
    EXPECT_TRUE(to.shutdown_write());
}
task<> read_whole(io::tcp_stream& from, const std::string& text) {
    std::string got(text.size(), '\0');
    co_await from.read_exactly(got).or_throw();
    EXPECT_TRUE(got == text);
}
task<> both_directions() {
    tcp_pair both = connected();
    const std::string text = pattern(3'000'000);
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& all) -> task<> {
            s.launch("there", write_here_and_there(pair.client, all));
            s.launch("back", write_here_and_there(pair.server, all));
            s.launch("server", read_whole(pair.server, all));
            s.launch("client", read_whole(pair.client, all));
            co_return;
        },
        std::ref(both), std::cref(text));
}
TEST(io_stream_operations, IO_28_both_directions_at_once) { on_each_host_run(&both_directions); }

// --- writing -----------------------------------------------------------------------------------------------------------------

task<> write_some_twice() {
    tcp_pair both = connected_narrow();
    const std::string text = pattern(10'000'000);
    const std::size_t first = co_await both.client.write_some(text).or_throw();
    EXPECT_GT(first, 0U);
    EXPECT_LT(first, text.size()) << "no more than there is room for";
    std::string got(first, '\0');
    co_await both.server.read_exactly(got).or_throw();
    EXPECT_TRUE(got == text.substr(0, first));
    expect_equal(co_await both.client.write_some("").or_throw(), 0U);
}
TEST(io_stream_operations, IO_23_write_some_writes_what_there_is_room_for) { on_each_host_run(&write_some_twice); }

task<> write_parts(io::tcp_stream& to, const std::string& a, const std::string& b, const std::string& c) {
    const std::size_t n = co_await to.write_all("head", a, "", b, io::const_buffer(), c, "tail").or_throw();
    EXPECT_EQ(n, 8 + a.size() + b.size() + c.size());
    expect_equal(co_await to.write_all("", "").or_throw(), 0U);
    to.close();
}
task<> gather_much() {
    tcp_pair both = connected();
    const std::string text = pattern(2'000'000);
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& all) -> task<> {
            const std::string a = all.substr(0, 700'000);
            const std::string b = all.substr(700'000, 1);
            const std::string c = all.substr(700'001);
            s.launch("writer", write_parts(pair.client, a, b, c));
            std::string got(all.size() + 8, '\0');
            co_await pair.server.read_exactly(got).or_throw();
            EXPECT_TRUE(got == "head" + all + "tail");
            expect_equal(co_await pair.server.read_some(got).or_throw(), 0U);
        },
        std::ref(both), std::cref(text));
}
TEST(io_stream_operations, IO_24_several_buffers_are_written_in_order) { on_each_host_run(&gather_much); }

task<> send(io::tcp_stream& to, int file, std::uint64_t offset, std::size_t count) {
    expect_equal(co_await to.send_file(file, offset, count).or_throw(), count);
    const auto beyond = co_await to.send_file(file, offset, count + 10);
    EXPECT_EQ(beyond.code(), io::errc::end_of_stream) << "the file is shorter";
    EXPECT_EQ(beyond.transferred(), count);
    expect_equal((co_await to.send_file(-1, 0, 1)).code(), std::errc::bad_file_descriptor);
    expect_equal(co_await to.send_file(file, 0, 0).or_throw(), 0U);
    to.close();
}
task<> send_a_file(int file, const std::string& text) {
    tcp_pair both = connected();
    co_await with_scope(
        [](scope& s, tcp_pair& pair, int from, const std::string& all) -> task<> {
            s.launch("sender", send(pair.client, from, 1000, all.size() - 1000));
            std::string got(2 * (all.size() - 1000), '\0');
            co_await pair.server.read_exactly(got).or_throw();
            EXPECT_TRUE(got == all.substr(1000) + all.substr(1000));
            expect_equal(co_await pair.server.read_some(got).or_throw(), 0U);
        },
        std::ref(both), file, std::cref(text));
}
TEST(io_stream_operations, IO_25_a_part_of_a_file_is_sent) {
    const temporary_directory folder;
    const std::string text = pattern(1'000'000);
    std::ofstream(folder.file("data"), std::ios::binary) << text;
    const int file = ::open(folder.file("data").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    on_each_host([&](host& where) { where.run(send_a_file(file, text)); });
    ::close(file);
}

task<> send_to_none(int file) {
    tcp_pair both = connected();
    reset_on_close(both.server.native_handle());
    both.server.close();
    std::error_code why;
    while (!why) {
        why = (co_await both.client.send_file(file, 0, 1000)).code();
    }
    EXPECT_TRUE(why == std::errc::broken_pipe || why == std::errc::connection_reset) << why.message();
    expect_equal((co_await both.client.send_file(file, 0, 1000)).code(), std::errc::broken_pipe);
}
TEST(io_stream_operations, IO_27_sending_a_file_to_none_raises_no_signal) {
    const temporary_directory folder;
    std::ofstream(folder.file("data"), std::ios::binary) << pattern(1000);
    const int file = ::open(folder.file("data").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    on_each_host([&](host& where) { where.run(send_to_none(file)); });
    ::close(file);
}

// --- read_until --------------------------------------------------------------------------------------------------------------

task<> find_delimiters() {
    tcp_pair both = connected();
    co_await both.client.write_all("a-b--c---").or_throw();
    both.client.close();
    std::string data;
    expect_equal(co_await both.server.read_until(data, "--").or_throw(), 5U, "the first one");
    expect_equal(co_await both.server.read_until(data, "---").or_throw(), 9U);
    expect_equal(co_await both.server.read_until(data, "").or_throw(), 0U, "an empty delimiter is there");
    expect_equal((co_await both.server.read_until(data, "Y")).code(), io::errc::end_of_stream);
    EXPECT_EQ(data, "a-b--c---");
}
TEST(io_stream_operations, IO_22_the_first_delimiter_counts) { on_each_host_run(&find_delimiters); }

task<> write_pieces(io::tcp_stream& to) {
    for (const char* piece : {"one", "\r", "\n", "\r", "\n", "more"}) {
        co_await to.write_all(std::string_view(piece)).or_throw();
        co_await sleep_for(1ms);
    }
    to.close();
}
task<> split_delimiter() {
    tcp_pair both = connected();
    co_await with_scope(
        [](scope& s, tcp_pair& pair) -> task<> {
            s.launch("writer", write_pieces(pair.client));
            std::string data;
            const std::size_t n = co_await pair.server.read_until(data, "\r\n\r\n").or_throw();
            EXPECT_EQ(n, 7U);
            EXPECT_EQ(data.substr(0, n), "one\r\n\r\n");
        },
        std::ref(both));
}
TEST(io_stream_operations, IO_22_a_delimiter_may_come_in_pieces) { on_each_host_run(&split_delimiter); }

task<> read_until_a_limit() {
    tcp_pair both = connected();
    co_await both.client.write_all("0123456789\n").or_throw();
    std::string data;
    const auto n = co_await both.server.read_until(data, "\n", 10);
    EXPECT_EQ(n.code(), io::errc::too_long);
    EXPECT_EQ(data, "0123456789") << "no more than the limit is read";
    expect_equal(co_await both.server.read_until(data, "\n", 11).or_throw(), 11U);
    expect_equal((co_await both.server.read_until(data, "\n", 10)).code(), io::errc::too_long, "it ends beyond the limit");
}
TEST(io_stream_operations, IO_22_a_line_has_a_limit) { on_each_host_run(&read_until_a_limit); }

task<> read_a_long_line() {
    tcp_pair both = connected();
    const std::string text = std::string(50'000, 'x') + "\n" + "next";
    co_await both.client.write_all(text).or_throw();
    both.client.close();
    std::string data;
    expect_equal(co_await both.server.read_until(data, "\n").or_throw(), 50'001U);
    expect_equal((co_await both.server.read_until(data, "\r")).code(), io::errc::end_of_stream);
    EXPECT_TRUE(data == text);
}
TEST(io_stream_operations, IO_22_a_line_longer_than_a_call) { on_each_host_run(&read_a_long_line); }

}  // namespace
