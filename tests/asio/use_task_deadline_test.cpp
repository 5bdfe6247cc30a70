// Operations that end although a deadline has cancelled them, on virtual time.

#include <roost/asio/use_task.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/testing/virtual_time.hpp>

#include "all_of_asio.hpp"
#include "by_hand.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace roost;
using namespace std::chrono_literals;
using asio_testing::by_hand;
namespace net = roost::detail::net;
using roost::detail::error_code;

struct seen {
    std::optional<int> value;
    error_code error;
    bool timed_out = false;
    bool reached_the_end = false;
};

task<> await_and_go_on(by_hand& op, seen& s) {
    try {
        s.value = co_await op(use_task);
    } catch (const detail::system_error& e) {
        s.error = e.code();
    }
    co_await sleep_for(1h);
    s.reached_the_end = true;
}

task<> under_deadline(by_hand& op, seen& s) {
    const bool in_time = co_await move_on_after(1s, await_and_go_on(op, s));
    s.timed_out = !in_time;
}

// Runs until the deadline has passed, and lets the operation end then.
seen end_late(
    const std::function<task<>(by_hand&, seen&)>& body, error_code ec, int value,
    const std::function<void(job&)>& before = [](job&) {}) {
    roost::testing::virtual_time time;
    owned_scope root(time, scope_options("root").report_failures());
    by_hand op;
    seen s;
    job j = root.launch("late", body(op, s));
    time.advance(2s);
    EXPECT_EQ(op.signals, 1);  // the deadline has been passed on
    before(j);
    op.complete(ec, value);
    root.request_close();
    time.run();
    EXPECT_FALSE(s.reached_the_end);
    return s;
}

TEST(use_task_deadline, ASIO_5_a_value_wins_over_the_deadline) {
    const seen s = end_late(under_deadline, {}, 7);
    EXPECT_EQ(s.value, 7);
    EXPECT_TRUE(s.timed_out) << "the next await cancels";
}

TEST(use_task_deadline, ASIO_5_so_does_an_error) {
    const seen s = end_late(under_deadline, net::error::connection_reset, 0);
    EXPECT_EQ(s.error, net::error::connection_reset);
    EXPECT_TRUE(s.timed_out);
}

TEST(use_task_deadline, ASIO_5_the_echo_of_the_cancel_is_the_timeout) {
    const seen s = end_late(under_deadline, net::error::operation_aborted, 0);
    EXPECT_FALSE(s.value);
    EXPECT_FALSE(s.error);
    EXPECT_TRUE(s.timed_out);
}

TEST(use_task_deadline, ASIO_5_a_cancel_of_the_job_destroys_the_value_all_the_same) {
    const seen s = end_late(under_deadline, {}, 7, [](job& j) { j.cancel(); });
    EXPECT_FALSE(s.value);
    EXPECT_FALSE(s.timed_out) << "the job is cancelled: nothing goes on";
}

TEST(use_task_deadline, ASIO_5_unless_a_shield_holds_it_up) {
    const auto shielded = [](by_hand& op, seen& s) -> task<> { co_await shield(1h, under_deadline(op, s)); };
    const seen s = end_late(shielded, {}, 7, [](job& j) { j.cancel(); });
    EXPECT_EQ(s.value, 7);
    EXPECT_TRUE(s.timed_out);
}

task<> await_in_scope(scope&, by_hand& op, seen& s) { co_await await_and_go_on(op, s); }

TEST(use_task_deadline, ASIO_5_a_value_wins_over_the_cancel_of_a_scope_inside_the_job) {
    const auto body = [](by_hand& op, seen& s) -> task<> {
        const auto in_scope = [](scope& inner, by_hand& o, seen& seen_there) -> task<> {
            inner.launch("cancels", [](scope& which) -> task<> {
                co_await sleep_for(1s);
                which.cancel();
            }(inner));
            co_await await_in_scope(inner, o, seen_there);
        };
        co_await with_scope(in_scope, std::ref(op), std::ref(s));
    };
    EXPECT_EQ(end_late(body, {}, 7).value, 7);
}

// --- transfers ------------------------------------------------------------------------------------------------------------

task<> read_ten(net::local::stream_protocol::socket& from, std::string& got) {
    std::array<char, 10> data{};
    auto [ec, n] = co_await net::async_read(from, net::buffer(data), net::as_tuple(use_task));
    got.append(data.data(), n);
    if (ec) {
        EXPECT_EQ(ec, net::error::operation_aborted);
        EXPECT_NE(n, 0U) << "with nothing to see the body does not go on";
    }
}

TEST(use_task_deadline, ASIO_22_an_aborted_transfer_gives_the_bytes_that_it_has_moved) {
    net::io_context io;
    net::local::stream_protocol::socket reader(io);
    net::local::stream_protocol::socket writer(io);
    net::local::connect_pair(reader, writer);
    net::write(writer, net::buffer("abc", 3));
    std::string got;
    run(io, [](net::local::stream_protocol::socket& from, std::string& to) -> task<> {
        while (to.empty()) {
            static_cast<void>(co_await move_on_after(1ms, read_ten(from, to)));
        }
    }(reader, got));
    EXPECT_EQ(got, "abc");
}

TEST(use_task_deadline, ASIO_22_what_a_handler_says_about_its_end) {
    using detail::ended_as;
    using detail::ending_of;
    const error_code aborted = net::error::operation_aborted;
    const error_code none;
    EXPECT_EQ(ending_of(std::tuple<>()), ended_as::result);
    EXPECT_EQ(ending_of(std::tuple(none, std::size_t(3))), ended_as::result);
    EXPECT_EQ(ending_of(std::tuple(aborted, std::size_t(0))), ended_as::aborted);
    EXPECT_EQ(ending_of(std::tuple(aborted, std::size_t(3))), ended_as::aborted) << "the number would be lost anyway";
    EXPECT_EQ(ending_of(std::make_tuple(std::tuple(aborted, std::size_t(0)))), ended_as::aborted);
    EXPECT_EQ(ending_of(std::make_tuple(std::tuple(aborted, std::size_t(3)))), ended_as::result) << "as_tuple shows it";
    EXPECT_EQ(ending_of(std::make_tuple(std::tuple(none, std::size_t(0)))), ended_as::result);
    EXPECT_EQ(ending_of(std::make_tuple(std::tuple(aborted))), ended_as::aborted);
    EXPECT_EQ(ending_of(std::make_tuple(std::tuple(std::exception_ptr()))), ended_as::result);
    EXPECT_EQ(ending_of(std::tuple(std::size_t(3))), ended_as::result) << "an adapter hides the error";
}

}  // namespace
