#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/testing/duplex.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/virtual_time.hpp>

#include "expect_awaited.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

using namespace roost;
using namespace std::chrono_literals;
using namespace awaiting;
using testing::duplex;
using testing::wire;

namespace {

std::string numbers(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('0' + i % 10);
    }
    return text;
}

// A root in virtual time, whose failures fail the test.
class in_virtual_time {
public:
    void run(task<> t) {
        root_.launch("test", std::move(t));
        clock.run();
    }
    ~in_virtual_time() {
        root_.request_close();
        clock.run();
        EXPECT_TRUE(root_.is_closed()) << clock.leaks();
    }
    testing::virtual_time clock;

private:
    owned_scope root_{clock, scope_options("root").report_failures()};
};

task<> read_to_end(io::stream& from, std::string& got) {
    std::array<char, 100> data{};
    for (;;) {
        const std::size_t n = co_await from.read_some(data).or_throw();
        if (n == 0) {
            break;
        }
        got.append(data.data(), n);
    }
}
task<> both_ways(io::stream& one, io::stream& other, std::string there, std::string back) {
    std::string at_other;
    std::string at_one;
    co_await with_scope(
        [](scope& s, io::stream& a, io::stream& b, std::string& x, std::string& y, std::string& to,
           std::string& from) -> task<> {
            s.launch("there", [](io::stream& out, std::string& text) -> task<> {
                co_await out.write_all(text).or_throw();
                EXPECT_TRUE(out.shutdown_write());
            }(a, x));
            s.launch("back", [](io::stream& out, std::string& text) -> task<> {
                co_await out.write_all(text).or_throw();
                EXPECT_TRUE(out.shutdown_write());
            }(b, y));
            s.launch("at the other", read_to_end(b, to));
            s.launch("at one", read_to_end(a, from));
            co_return;
        },
        std::ref(one), std::ref(other), std::ref(there), std::ref(back), std::ref(at_other), std::ref(at_one));
    EXPECT_TRUE(at_other == there);
    EXPECT_TRUE(at_one == back);
}

TEST(duplex, IO_100_what_one_end_writes_the_other_reads) {
    in_virtual_time test;
    auto [client, server] = duplex();
    EXPECT_TRUE(client.is_open());
    EXPECT_EQ(client.native_handle(), -1);
    EXPECT_STREQ(client.name(), "duplex client");
    EXPECT_STREQ(server.name(), "duplex server");
    test.run(both_ways(client, server, numbers(300'000), numbers(200'001)));
}

TEST(duplex, IO_100_on_every_executor) {
    {
        testing::manual_executor hand;
        owned_scope root(hand, scope_options("root").report_failures());
        auto [client, server] = duplex();
        root.launch("test", both_ways(client, server, numbers(100'000), numbers(100)));
        hand.run_all();
        root.request_close();
        hand.run_all();
        EXPECT_TRUE(root.is_closed());
    }
    for (const unsigned workers : {1U, 2U}) {
        runtime rt(runtime_options().workers(workers));
        for (int i = 0; i < 20; ++i) {
            auto [client, server] = duplex(wire().capacity(100), wire().short_reads(7));
            block_on(rt, both_ways(client, server, numbers(10'000), numbers(5000)));
        }
    }
}

TEST(duplex, IO_100_threads_block_on_it) {
    auto [client, server] = duplex(wire().capacity(64));
    std::thread writer([&to = client] {
        EXPECT_TRUE(to.write_all(numbers(10'000)).blocking(30s));
        to.close();
    });
    std::string got(10'000, '\0');
    EXPECT_TRUE(server.read_exactly(got).blocking(30s));
    EXPECT_EQ(got, numbers(10'000));
    EXPECT_EQ(server.read_some(got).blocking(30s).value(), 0U);
    writer.join();
    EXPECT_EQ(server.write_some("x").blocking(30s).code(), std::errc::broken_pipe);
    auto [a, b] = duplex();
    EXPECT_EQ(b.read_some(got).blocking(2ms).code(), io::errc::timed_out);
    std::thread reader([&from = b] {
        std::array<char, 8> data{};
        EXPECT_EQ(from.read_some(data).blocking(30s).code(), io::errc::closed);
    });
    std::this_thread::sleep_for(2ms);
    b.close();
    reader.join();
}

TEST(duplex, IO_100_cancel_and_close_work_as_on_a_socket) {
    in_virtual_time test;
    auto [client, server] = duplex();
    test.run([](io::stream& a, io::stream& b) -> task<> {
        std::array<char, 8> data{};
        expect_false(co_await move_on_after(1s, b.read_some(data)));
        co_await a.write_all("abc").or_throw();
        const auto part = co_await move_on_after(1s, b.read_exactly(data));
        EXPECT_TRUE(part && part->code() == io::errc::cancelled && part->transferred() == 3);
        b.set_read_limit(1s);
        expect_equal((co_await b.read_some(data)).code(), io::errc::timed_out);
        co_await with_scope(
            [](scope& s, io::stream& from) -> task<> {
                s.launch("reader", [](io::stream& in) -> task<> {
                    std::array<char, 8> rest{};
                    expect_equal((co_await in.read_some(rest)).code(), io::errc::closed);
                }(from));
                co_await sleep_for(1ms);
                from.close();
            },
            std::ref(b));
        expect_equal((co_await a.write_some("x")).code(), std::errc::broken_pipe);
        expect_equal(co_await a.read_some(data).or_throw(), 0U);
    }(client, server));
}

// --- faults --------------------------------------------------------------------------------------------------------------------

TEST(duplex, IO_101_a_full_wire_makes_the_writer_wait) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().capacity(10));
    test.run([](io::stream& a, io::stream& b) -> task<> {
        expect_equal(co_await a.write_some(numbers(100)).or_throw(), 10U);
        expect_false(co_await move_on_after(1s, a.write_some("x")));
        std::array<char, 4> data{};
        expect_equal(co_await b.read_some(data).or_throw(), 4U);
        expect_equal(co_await a.write_some(numbers(100)).or_throw(), 4U);
        expect_equal(co_await b.write_some(numbers(100)).or_throw(), 100U, "the other direction has no such limit");
    }(client, server));
}

TEST(duplex, IO_101_short_reads_and_writes) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().short_reads(3).short_writes(5));
    test.run([](io::stream& a, io::stream& b) -> task<> {
        expect_equal(co_await a.write_some(numbers(100)).or_throw(), 5U);
        expect_equal(co_await a.write_all(numbers(100)).or_throw(), 100U);
        std::array<char, 100> data{};
        expect_equal(co_await b.read_some(data).or_throw(), 3U);
        expect_equal(co_await b.read_exactly(data).or_throw(), 100U, "what is left behind a short read is found");
        expect_equal(co_await b.read_some(data).or_throw(), 2U);
        a.close();
        expect_equal(co_await b.read_some(data).or_throw(), 0U);
    }(client, server));
}

TEST(duplex, IO_101_one_byte_at_a_time) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().one_byte_at_a_time(), wire().one_byte_at_a_time());
    test.run([](io::stream& a, io::stream& b) -> task<> {
        expect_equal(co_await a.write_some("line\r\nmore").or_throw(), 1U);
        co_await a.write_all("ine\r\nmore").or_throw();
        std::string data;
        expect_equal(co_await b.read_until(data, "\r\n").or_throw(), 6U);
        EXPECT_EQ(data, "line\r\n") << "not a byte more";
        co_await b.write_all("several", "buffers").or_throw();
        std::string got(14, '\0');
        co_await a.read_exactly(got).or_throw();
        EXPECT_EQ(got, "severalbuffers");
    }(client, server));
}

TEST(duplex, IO_101_bytes_and_the_end_are_delayed) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().delay(1s, test.clock));
    const time_point start = test.clock.now();
    test.run([](io::stream& a, io::stream& b, testing::virtual_time& clock, time_point from) -> task<> {
        co_await a.write_all("ab").or_throw();
        co_await sleep_for(400ms);
        co_await a.write_all("cd").or_throw();
        co_await sleep_for(100ms);
        a.close();
        std::array<char, 8> data{};
        expect_equal(co_await b.read_some(data).or_throw(), 2U);
        EXPECT_EQ(clock.now() - from, 1000ms);
        expect_equal(co_await b.read_some(data).or_throw(), 2U);
        EXPECT_EQ(clock.now() - from, 1400ms);
        expect_equal(co_await b.read_some(data).or_throw(), 0U);
        EXPECT_EQ(clock.now() - from, 1500ms);
    }(client, server, test.clock, start));
    EXPECT_EQ(test.clock.armed_timers(), 0U);
}

TEST(duplex, IO_101_a_delayed_end_may_be_closed_before_it_reads) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().delay(1h, test.clock), wire().delay(1h, test.clock));
    test.run([](io::stream& a, io::stream& b) -> task<> {
        co_await a.write_all("ab").or_throw();
        co_await b.write_all("ab").or_throw();
        b.close();
        a.close();
    }(client, server));
    EXPECT_EQ(test.clock.armed_timers(), 0U);
}

TEST(duplex, IO_101_an_end_after_some_bytes) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().end_after(4), wire().end_after(0));
    test.run([](io::stream& a, io::stream& b) -> task<> {
        const auto sent = co_await a.write_all("abcdef");
        EXPECT_EQ(sent.code(), std::errc::broken_pipe);
        EXPECT_EQ(sent.transferred(), 4U);
        std::array<char, 8> data{};
        const auto got = co_await b.read_exactly(data);
        EXPECT_EQ(got.code(), io::errc::end_of_stream);
        EXPECT_EQ(got.transferred(), 4U);
        expect_equal(co_await a.read_some(data).or_throw(), 0U, "at once");
        expect_equal((co_await b.write_some("x")).code(), std::errc::broken_pipe);
    }(client, server));
}

TEST(duplex, IO_101_a_reset_after_some_bytes) {
    in_virtual_time test;
    auto [client, server] = duplex(wire().reset_after(4));
    test.run([](io::stream& a, io::stream& b) -> task<> {
        co_await with_scope(
            [](scope& s, io::stream& one, io::stream& other) -> task<> {
                s.launch("reader", [](io::stream& from) -> task<> {
                    std::array<char, 8> data{};
                    expect_equal((co_await from.read_some(data)).code(), std::errc::connection_reset,
                                 "the other direction too");
                }(one));
                co_await sleep_for(1ms);
                const auto sent = co_await one.write_all("abcdef");
                EXPECT_EQ(sent.code(), std::errc::connection_reset);
                EXPECT_EQ(sent.transferred(), 4U);
                std::array<char, 8> data{};
                const auto got = co_await other.read_exactly(data);
                EXPECT_EQ(got.code(), std::errc::connection_reset);
                EXPECT_EQ(got.transferred(), 4U);
                expect_equal((co_await other.write_some("x")).code(), std::errc::connection_reset);
            },
            std::ref(a), std::ref(b));
    }(client, server));
    auto [never, used] = duplex(wire(), wire().reset_after(0));
    EXPECT_EQ(never.write_some("x").blocking(1s).code(), std::errc::connection_reset);
    EXPECT_EQ(used.write_some("x").blocking(1s).code(), std::errc::connection_reset);
}

TEST(duplex, IO_100_a_file_is_sent) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    const std::string text = numbers(20'000);
    ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
    ASSERT_EQ(std::fflush(file), 0);
    in_virtual_time test;
    auto [client, server] = duplex();
    test.run([](io::stream& a, io::stream& b, int from, const std::string& all) -> task<> {
        expect_equal(co_await a.send_file(from, 10, all.size() - 10).or_throw(), all.size() - 10);
        std::string got(all.size() - 10, '\0');
        co_await b.read_exactly(got).or_throw();
        EXPECT_TRUE(got == all.substr(10));
        expect_equal((co_await a.send_file(from, all.size(), 1)).code(), io::errc::end_of_stream);
        expect_equal((co_await a.send_file(-1, 0, 1)).code(), std::errc::bad_file_descriptor);
    }(client, server, ::fileno(file), text));
    std::fclose(file);
}

// Nothing is left of a pair, whichever end goes first, also while the other waits.
TEST(duplex, IO_100_ends_may_go_in_any_order) {
    in_virtual_time test;
    for (const bool client_first : {true, false}) {
        auto both = std::make_unique<testing::duplex_pair>(duplex());
        test.run([](testing::duplex_pair& pair, bool first) -> task<> {
            co_await with_scope(
                [](scope& s, io::stream& waits, io::stream& goes) -> task<> {
                    s.launch("reader", [](io::stream& from) -> task<> {
                        std::array<char, 8> data{};
                        expect_equal(co_await from.read_some(data).or_throw(), 0U);
                    }(waits));
                    co_await sleep_for(1ms);
                    goes.close();
                },
                std::ref<io::stream>(first ? pair.server : pair.client),
                std::ref<io::stream>(first ? pair.client : pair.server));
        }(*both, client_first));
        both.reset();
    }
}

}  // namespace
