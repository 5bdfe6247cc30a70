// Operations on executors without a driver, and on one executor after another.

#include "../sync/coroutines.hpp"
#include "support.hpp"

#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/testing/manual_executor.hpp>

using namespace roost;
using namespace io_tests;

namespace {

// --- no driver ----------------------------------------------------------------------------------------------------------------

task<> read_here(io::tcp_stream& from, io::result<std::size_t>& got) {
    std::array<char, 8> data{};
    got = co_await from.read_some(data);
}
TEST(io_executors, IO_31_an_executor_without_a_driver_is_an_error) {
    tcp_pair both = connected();
    testing::manual_executor hand;
    owned_scope root(hand, scope_options("root").report_failures());
    io::result<std::size_t> got(std::in_place, 0U);
    root.launch("reader", read_here(both.server, got));
    hand.run_all();
    EXPECT_EQ(got.code(), std::errc::operation_not_supported) << got.code().message();
    ASSERT_TRUE(both.client.write_all("abc").blocking(hang_limit));
    root.launch("reader", read_here(both.server, got));
    hand.run_all();
    EXPECT_FALSE(got) << "the descriptor is not known to be ready, and there is none that could tell";
    root.request_close();
    hand.run_all();
    EXPECT_TRUE(root.is_closed());
}
TEST(io_executors, IO_31_what_can_complete_at_once_needs_no_driver) {
    tcp_pair both = connected();
    ASSERT_TRUE(both.client.write_all("abc").blocking(hang_limit));
    testing::manual_executor hand;
    owned_scope root(hand, scope_options("root").report_failures());
    io::result<std::size_t> got(std::in_place, 0U);
    root.launch("reader", read_here(both.server, got));
    hand.run_all();
    EXPECT_TRUE(got) << got.code().message();
    EXPECT_EQ(got.transferred(), 3U);
    root.request_close();
    hand.run_all();
}
sync_testing::owned read_without_executor(io::tcp_stream& from, io::result<std::size_t>& got) {
    std::array<char, 8> data{};
    got = co_await from.read_some(data);
}
TEST(io_executors, IO_31_a_coroutine_type_without_executor_is_an_error) {
    tcp_pair both = connected();
    io::result<std::size_t> got(std::in_place, 0U);
    const auto reading = read_without_executor(both.server, got);
    EXPECT_TRUE(reading.done());
    EXPECT_EQ(got.code(), std::errc::operation_not_supported);
}

// --- one executor after another ------------------------------------------------------------------------------------------------

task<> wait_in_vain_then_read(io::tcp_stream& from, io::tcp_stream& peer, bool has_limit) {
    std::array<char, 8> data{};
    if (has_limit) {
        from.set_read_limit(5s);
    }
    expect_false(co_await move_on_after(3ms, from.read_some(data)));
    co_await with_scope(
        [](scope& s, io::tcp_stream& to, io::tcp_stream& reader) -> task<> {
            s.launch("writer", [](io::tcp_stream& p) -> task<> {
                co_await sleep_for(1ms);
                co_await p.write_all("abc").or_throw();
            }(to));
            std::array<char, 3> got{};
            expect_equal(co_await reader.read_exactly(got).or_throw(), 3U);
        },
        std::ref(peer), std::ref(from));
}
TEST(io_executors, IO_32_streams_outlive_an_executor) {
    for (const bool has_limit : {false, true}) {
        tcp_pair both = connected();
        for (const unsigned workers : {1U, 2U, 0U, 1U}) {
            host where(workers);
            where.run(wait_in_vain_then_read(both.server, both.client, has_limit));
        }
        EXPECT_TRUE(both.client.write_all("x").blocking(hang_limit));
        std::array<char, 8> data{};
        EXPECT_EQ(both.server.read_some(data).blocking(hang_limit).value(), 1U);
    }
}
task<> limited_in_vain(io::tcp_stream& from) {
    std::array<char, 8> data{};
    from.set_read_limit(5ms);
    expect_equal((co_await from.read_some(data)).code(), io::errc::timed_out);
}
TEST(io_executors, IO_32_limits_work_on_the_next_executor) {
    tcp_pair both = connected();
    {
        host first(1);
        first.run(wait_in_vain_then_read(both.server, both.client, true));  // leaves a timer of five seconds armed
    }
    host second(1);
    second.run(limited_in_vain(both.server));
}
TEST(io_executors, IO_32_two_executors_in_turn) {
    tcp_pair both = connected();
    host first(1);
    host second(1);
    for (int i = 0; i < 5; ++i) {
        first.run(wait_in_vain_then_read(both.server, both.client, true));
        second.run(wait_in_vain_then_read(both.server, both.client, true));
    }
}

}  // namespace
