#include "support.hpp"

#include <roost/flow/select.hpp>
#include <roost/io/stream.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/tree/visit.hpp>

#include <fcntl.h>
#include <fstream>

using namespace roost;
using namespace io_tests;

namespace {

static_assert(!std::is_default_constructible_v<io::stream> && !std::is_move_constructible_v<io::stream>,
              "only the streams of a kind can be made");

// Any kind of stream is served through its base.
task<> echo(io::stream& peer) {
    std::array<char, 4096> data{};
    for (;;) {
        const std::size_t n = co_await peer.read_some(data).or_throw();
        if (n == 0) {
            peer.close();
            co_return;
        }
        co_await peer.write_all(io::const_buffer(data.data(), n)).or_throw();
    }
}

task<> ask_and_answer() {
    tcp_pair both = connected();
    co_await with_scope(
        [](scope& s, tcp_pair& pair) -> task<> {
            s.launch("echo", echo(pair.server));
            std::array<char, 16> data{};
            const auto sent = co_await pair.client.write_all("hello");
            EXPECT_EQ(sent.transferred(), 5U);
            const auto got = co_await pair.client.read_exactly(io::mutable_buffer(data.data(), 5));
            EXPECT_TRUE(got);
            EXPECT_EQ(std::string(data.data(), 5), "hello");
            EXPECT_TRUE(pair.client.shutdown_write());
            const auto end = co_await pair.client.read_some(data);
            EXPECT_TRUE(end);
            EXPECT_EQ(end.transferred(), 0U);
        },
        std::ref(both));
}
TEST(io_stream, IO_20_bytes_go_both_ways_until_the_end) { on_each_host_run(&ask_and_answer); }

task<> read_what_is_there() {
    tcp_pair both = connected();
    co_await both.client.write_all("abc").or_throw();
    std::array<char, 16> data{};
    const auto nothing = co_await both.server.read_some(io::mutable_buffer());
    EXPECT_TRUE(nothing);
    EXPECT_EQ(*nothing, 0U) << "an empty buffer";
    expect_equal(co_await both.server.read_some(io::mutable_buffer(data.data(), 2)).or_throw(), 2U);
    expect_equal(co_await both.server.read_some(data).or_throw(), 1U, "what is left");
    both.client.close();
    expect_equal(co_await both.server.read_some(data).or_throw(), 0U);
    expect_equal(co_await both.server.read_some(data).or_throw(), 0U, "the end stays");
}
TEST(io_stream, IO_20_read_some_returns_what_is_there) { on_each_host_run(&read_what_is_there); }

task<> read_a_part_and_the_end() {
    tcp_pair both = connected();
    co_await both.client.write_all("abc").or_throw();
    both.client.close();
    std::array<char, 8> data{};
    const auto got = co_await both.server.read_exactly(data);
    EXPECT_EQ(got.code(), io::errc::end_of_stream);
    EXPECT_EQ(got.transferred(), 3U);
    EXPECT_EQ(std::string(data.data(), 3), "abc");
    const auto nothing = co_await both.server.read_exactly(io::mutable_buffer());
    EXPECT_TRUE(nothing) << "an empty buffer is full at once";
}
TEST(io_stream, IO_21_an_end_before_the_buffer_is_full_is_an_error) { on_each_host_run(&read_a_part_and_the_end); }

task<> lines_until_the_end() {
    tcp_pair both = connected();
    co_await both.client.write_all("one\r\ntwo\r\n\r\nrest").or_throw();
    both.client.close();
    std::string data;
    std::vector<std::string> lines;
    for (;;) {
        const auto n = co_await both.server.read_until(data, "\r\n");
        if (!n) {
            EXPECT_EQ(n.code(), io::errc::end_of_stream);
            break;
        }
        lines.push_back(data.substr(0, *n));
        data.erase(0, *n);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"one\r\n", "two\r\n", "\r\n"}));
    EXPECT_EQ(data, "rest") << "what came without a delimiter stays";
}
TEST(io_stream, IO_22_lines) { on_each_host_run(&lines_until_the_end); }

task<> half_close() {
    tcp_pair both = connected();
    EXPECT_TRUE(both.client.shutdown_write());
    std::array<char, 8> data{};
    expect_equal(co_await both.server.read_some(data).or_throw(), 0U);
    co_await both.server.write_all("late").or_throw();
    expect_equal(co_await both.client.read_some(data).or_throw(), 4U, "reading goes on");
    const auto refused = co_await both.client.write_some("x");
    EXPECT_EQ(refused.code(), std::errc::broken_pipe);
    EXPECT_TRUE(both.server.shutdown_write());
    expect_equal(co_await both.client.read_some(data).or_throw(), 0U);
}
TEST(io_stream, IO_26_each_direction_ends_by_itself) { on_each_host_run(&half_close); }

task<> reset_in_the_middle() {
    tcp_pair both = connected();
    co_await both.client.write_all("abc").or_throw();
    std::array<char, 8> data{};
    expect_equal(co_await both.server.read_some(data).or_throw(), 3U);
    co_await with_scope(
        [](scope& s, tcp_pair& pair) -> task<> {
            s.launch("reader", [](io::tcp_stream& peer) -> task<> {
                std::array<char, 8> rest{};
                const auto got = co_await peer.read_exactly(rest);
                EXPECT_EQ(got.code(), std::errc::connection_reset);
            }(pair.server));
            co_await sleep_for(5ms);
            reset_on_close(pair.client.native_handle());
            pair.client.close();
        },
        std::ref(both));
    const auto refused = co_await both.server.write_some("x");
    EXPECT_EQ(refused.code(), std::errc::broken_pipe) << "no signal ended the process";
}
TEST(io_stream, IO_27_a_reset_is_an_error_of_every_operation) { on_each_host_run(&reset_in_the_middle); }

// --- waiting without a buffer ----------------------------------------------------------------------------------------------

task<> wait_and_read() {
    tcp_pair both = connected();
    auto nothing = co_await select(both.server.readable(), sleep_for(5ms));
    EXPECT_EQ(nothing.index(), 1U) << "a new connection has no bytes";
    co_await both.client.write_all("abc").or_throw();
    for (int i = 0; i < 2; ++i) {
        const auto came = co_await both.server.readable();
        EXPECT_TRUE(came) << "it takes nothing";
    }
    std::array<char, 8> data{};
    EXPECT_EQ(co_await both.server.read_some(data).or_throw(), 3U);
    nothing = co_await select(both.server.readable(), sleep_for(5ms));
    EXPECT_EQ(nothing.index(), 1U) << "after all was read";
    co_await both.client.write_all("d").or_throw();
    auto some = co_await select(both.server.readable(), sleep_for(hang_limit));
    EXPECT_EQ(some.index(), 0U);
    EXPECT_EQ(co_await both.server.read_some(data).or_throw(), 1U);
    both.client.close();
    EXPECT_TRUE(co_await both.server.readable()) << "the end";
    EXPECT_EQ(co_await both.server.read_some(data).or_throw(), 0U);
}
TEST(io_stream, IO_90_readable_takes_nothing) { on_each_host_run(&wait_and_read); }

task<> wait_until_woken() {
    tcp_pair both = connected();
    co_await with_scope(
        [](scope& s, tcp_pair& pair) -> task<> {
            s.launch("reader", [](io::tcp_stream& peer) -> task<> {
                const auto came = co_await peer.readable();
                EXPECT_TRUE(came);
                std::array<char, 8> data{};
                EXPECT_EQ(co_await peer.read_some(data).or_throw(), 3U);
            }(pair.server));
            co_await sleep_for(5ms);
            co_await pair.client.write_all("abc").or_throw();
        },
        std::ref(both));
}
TEST(io_stream, IO_90_bytes_wake_a_reader_without_a_buffer) { on_each_host_run(&wait_until_woken); }

task<> wait_in_vain() {
    tcp_pair both = connected();
    both.server.set_read_limit(5ms);
    const auto late = co_await both.server.readable();
    EXPECT_EQ(late.code(), io::errc::timed_out);
    co_await both.client.write_all("abc").or_throw();
    EXPECT_TRUE(co_await both.server.readable()) << "the limit is one of each wait";
    std::array<char, 8> data{};
    EXPECT_EQ(co_await both.server.read_some(data).or_throw(), 3U);
    reset_on_close(both.client.native_handle());
    both.client.close();
    EXPECT_TRUE(co_await both.server.readable()) << "an error";
    const auto got = co_await both.server.read_some(data);
    EXPECT_EQ(got.code(), std::errc::connection_reset);
    both.server.close();
    const auto closed = co_await both.server.readable();
    EXPECT_EQ(closed.code(), io::errc::closed);
}
TEST(io_stream, IO_90_limits_and_errors_end_the_wait) { on_each_host_run(&wait_in_vain); }

// --- closing ------------------------------------------------------------------------------------------------------------------

task<> expect_closed(io::tcp_stream& on) {
    std::array<char, 8> data{};
    const auto got = co_await on.read_some(data);
    EXPECT_EQ(got.code(), io::errc::closed);
    EXPECT_EQ(got.status(), wait_status::closed);
}
task<> fill_until_closed(io::tcp_stream& on, const std::string& text) {
    const auto sent = co_await on.write_all(text);
    EXPECT_EQ(sent.code(), io::errc::closed);
    EXPECT_LT(sent.transferred(), text.size());
}
task<> close_beside_others() {
    tcp_pair both = connected();
    const std::string much = pattern(10'000'000);
    const int fd = both.server.native_handle();
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& text) -> task<> {
            s.launch("first reader", expect_closed(pair.server));
            s.launch("second reader", expect_closed(pair.server));
            s.launch("writer", fill_until_closed(pair.server, text));
            co_await sleep_for(5ms);
            pair.server.close();
            EXPECT_FALSE(pair.server.is_open());
        },
        std::ref(both), std::cref(much));
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "the last operation has given the number back";
}
TEST(io_stream, IO_13_close_ends_the_operations_of_other_tasks) { on_each_host_run(&close_beside_others); }

// On two workers the close meets a reader that has just been woken, or is in a call.
task<> close_at_once(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        tcp_pair both = connected();
        co_await with_scope(
            [](scope& s, tcp_pair& pair) -> task<> {
                s.launch("reader", expect_closed(pair.server));
                co_await yield();
                pair.server.close();
            },
            std::ref(both));
    }
}
TEST(io_stream, IO_13_a_close_is_never_taken_for_the_end_of_the_peer) {
    on_each_host([](host& where) { where.run(close_at_once(50)); });
}

// The handle is used by one thread while another closes it: no operation reaches a descriptor that was given back.
TEST(io_stream, IO_13_operations_may_begin_beside_a_close) {
    for (int i = 0; i < 100; ++i) {
        tcp_pair both = connected();
        std::thread user([&both] {
            std::array<char, 8> data{};
            std::error_code why;
            while (!why) {
                why = both.server.read_some(data).blocking(hang_limit).code();
            }
            EXPECT_EQ(why, io::errc::closed) << why.message();
        });
        std::thread peer([&both] {
            while (both.client.write_some("x").blocking(hang_limit)) {}
        });
        std::thread writer([&both] {
            std::error_code why;
            while (!why) {
                why = both.server.write_some("y").blocking(hang_limit).code();
            }
            EXPECT_EQ(why, io::errc::closed) << why.message();
        });
        both.server.close();
        user.join();
        writer.join();
        peer.join();
        EXPECT_FALSE(both.server.is_open());
    }
}

task<> use_closed(io::tcp_stream& s) {
    std::array<char, 8> data{};
    std::string text;
    expect_equal((co_await s.read_some(data)).code(), io::errc::closed);
    expect_equal((co_await s.read_exactly(data)).code(), io::errc::closed);
    expect_equal((co_await s.read_until(text, "\n")).code(), io::errc::closed);
    expect_equal((co_await s.write_some("x")).code(), io::errc::closed);
    expect_equal((co_await s.write_all("x")).code(), io::errc::closed);
    expect_equal((co_await s.write_all("x", "y")).code(), io::errc::closed);
    expect_equal((co_await s.send_file(0, 0, 1)).code(), io::errc::closed);
}
void expect_unusable(host& where, io::tcp_stream& s) {
    EXPECT_FALSE(s.is_open());
    EXPECT_EQ(s.native_handle(), -1);
    EXPECT_STREQ(s.name(), "closed");
    EXPECT_EQ(s.shutdown_write().code(), io::errc::closed);
    EXPECT_EQ(s.local(), io::endpoint());
    EXPECT_EQ(s.peer(), io::endpoint());
    s.set_read_limit(1s);
    s.close();
    where.run(use_closed(s));
    std::array<char, 8> data{};
    EXPECT_EQ(s.read_some(data).blocking(1s).code(), io::errc::closed);
    EXPECT_EQ(s.write_all("x").blocking(1s).code(), io::errc::closed);
}
TEST(io_stream, IO_29_what_is_not_open_refuses_everything) {
    on_each_host([](host& where) {
        io::tcp_stream never;
        expect_unusable(where, never);
        tcp_pair both = connected();
        const io::tcp_stream moved_to = std::move(both.client);
        expect_unusable(where, both.client);
        both.server.close();
        expect_unusable(where, both.server);
    });
}
TEST(io_stream, IO_29_assigning_closes_what_was_open) {
    tcp_pair first = connected();
    tcp_pair second = connected();
    first.client = std::move(second.client);
    std::array<char, 8> data{};
    EXPECT_EQ(first.server.read_some(data).blocking(hang_limit).value(), 0U) << "the end of the first connection";
    EXPECT_EQ(first.client.write_all("x").blocking(hang_limit).value(), 1U);
    EXPECT_EQ(second.server.read_some(data).blocking(hang_limit).value(), 1U);
}

// --- threads -----------------------------------------------------------------------------------------------------------------

TEST(io_stream, IO_30_blocking_forms_wait_for_the_peer) {
    tcp_pair both = connected();
    std::thread peer([&both] {
        for (const char c : std::string("hello\nrest")) {
            std::this_thread::sleep_for(1ms);
            EXPECT_TRUE(both.client.write_all(io::const_buffer(&c, 1)).blocking(hang_limit));
        }
    });
    std::string data;
    EXPECT_EQ(both.server.read_until(data, "\n").blocking(hang_limit).value(), 6U);
    std::array<char, 4> rest{};
    rest[0] = data.size() > 6 ? data[6] : '\0';
    const std::size_t early = data.size() - 6;
    EXPECT_TRUE(both.server.read_exactly(io::mutable_buffer(rest).after(early)).blocking(hang_limit));
    EXPECT_EQ(std::string(rest.data(), rest.size()), "rest");
    peer.join();
}

TEST(io_stream, IO_30_a_blocking_form_ends_at_its_deadline) {
    tcp_pair both = connected_narrow();
    std::array<char, 8> data{};
    EXPECT_EQ(both.server.read_some(data).blocking(5ms).code(), io::errc::timed_out);
    EXPECT_TRUE(both.client.write_all("abc").blocking(hang_limit));
    const auto part = both.server.read_exactly(data).blocking(roost::now() + 5ms);
    EXPECT_EQ(part.code(), io::errc::timed_out);
    EXPECT_EQ(part.transferred(), 3U);
    const std::string much = pattern(10'000'000);
    const auto sent = both.server.write_all(much).blocking(5ms);
    EXPECT_EQ(sent.code(), io::errc::timed_out);
    EXPECT_GT(sent.transferred(), 0U);
    EXPECT_LT(sent.transferred(), much.size());
}

TEST(io_stream, IO_30_close_ends_a_blocked_thread) {
    tcp_pair both = connected();
    std::thread reader([&both] {
        std::array<char, 8> data{};
        const auto got = both.server.read_some(data).blocking(hang_limit);
        EXPECT_TRUE(got.code() == io::errc::closed || (got && *got == 0)) << got.code().message();
    });
    std::this_thread::sleep_for(5ms);
    both.server.close();
    reader.join();
}

// --- reports -----------------------------------------------------------------------------------------------------------------

task<> read_for_ever(io::tcp_stream& peer) {
    std::array<char, 8> data{};
    static_cast<void>(co_await peer.read_some(data));
}
task<> look_at_a_reader() {
    tcp_pair both = connected();
    const std::string name = both.server.name();
    EXPECT_EQ(name, "fd " + std::to_string(both.server.native_handle()) + " (" + both.client.local().to_string() + ")");
    co_await with_scope(
        [](scope& s, tcp_pair& pair, const std::string& expected) -> task<> {
            job reader = s.launch("reader", read_for_ever(pair.server));
            co_await sleep_for(5ms);
            const std::string report = observe::tree_to_string(s.tree_node());
            EXPECT_NE(report.find("readable '" + expected + "'"), std::string::npos) << report;
            reader.cancel();
        },
        std::ref(both), std::cref(name));
}
TEST(io_stream, IO_33_reports_name_the_descriptor_the_peer_and_the_direction) { on_each_host_run(&look_at_a_reader); }

}  // namespace
