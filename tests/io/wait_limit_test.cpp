// Limits of a stream's waits: in virtual time on a peer of memory, and on real sockets.

#include "support.hpp"

#include <roost/io/detail/wait_limit.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/testing/virtual_time.hpp>

#include <optional>

using namespace roost;
using namespace io_tests;

namespace {

// A waiter that notes how it was claimed.
class noting : public ext::waiter {
public:
    explicit noting(executor_ref where) {
        set_awaited();
        bind(ext::resume_target(this, &noting::woken, where));
    }
    std::optional<ext::claim> how;

private:
    static void woken(ext::work& w) noexcept {
        auto& me = static_cast<noting&>(w);
        me.how = me.finish();
    }
};

TEST(io_wait_limit, IO_14_the_limit_expires_what_is_queued) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    noting w(time);
    limit.begin(&time);  // without a limit
    EXPECT_EQ(time.armed_timers(), 0U);
    limit.set(1s);
    limit.begin(nullptr);  // without timers
    limit.begin(&time);
    ASSERT_TRUE(ready.enqueue(w));
    time.advance(999ms);
    EXPECT_FALSE(w.how);
    time.advance(1ms);
    EXPECT_EQ(w.how, ext::claim::expired);
    EXPECT_EQ(time.armed_timers(), 0U);
}

TEST(io_wait_limit, IO_14_each_wait_has_the_whole_limit) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    limit.set(1s);
    for (int i = 0; i < 5; ++i) {
        noting w(time);
        limit.begin(&time);
        ASSERT_TRUE(ready.enqueue(w));
        time.advance(900ms);
        ready.set(false);
        time.run_ready();
        EXPECT_EQ(w.how, ext::claim::released) << i;
        ready.clear(ready.look());
    }
    noting last(time);
    limit.begin(&time);
    ASSERT_TRUE(ready.enqueue(last));
    EXPECT_EQ(time.armed_timers(), 1U) << "one timer, which moves";
    time.advance(1s);
    EXPECT_EQ(last.how, ext::claim::expired);
}

TEST(io_wait_limit, IO_14_a_timer_without_a_wait_does_nothing) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    limit.set(1s);
    limit.begin(&time);
    time.run();
    EXPECT_EQ(time.armed_timers(), 0U);
    noting w(time);
    limit.begin(&time);
    ASSERT_TRUE(ready.enqueue(w));
    time.run();
    EXPECT_EQ(w.how, ext::claim::expired);
}

TEST(io_wait_limit, IO_14_a_limit_that_is_removed_no_longer_moves_the_timer) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    limit.set(1s);
    noting first(time);
    limit.begin(&time);
    ASSERT_TRUE(ready.enqueue(first));
    ready.set(false);
    time.run_ready();
    ready.clear(ready.look());
    limit.end();
    EXPECT_EQ(time.armed_timers(), 0U);
    limit.begin(&time);
    EXPECT_EQ(time.armed_timers(), 0U) << "it has ended";
}

TEST(io_wait_limit, IO_14_a_limit_that_is_removed_spares_the_next_wait) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    limit.set(1s);
    limit.begin(&time);
    limit.set(duration::max());
    noting w(time);
    limit.begin(&time);
    ASSERT_TRUE(ready.enqueue(w));
    time.run();
    EXPECT_FALSE(w.how) << "the timer of the earlier wait has fired";
    EXPECT_EQ(time.armed_timers(), 0U);
    EXPECT_TRUE(ready.cancel(w, ext::claim::cancelled));
}

TEST(io_wait_limit, IO_32_the_timer_moves_to_the_executor_of_the_wait) {
    testing::virtual_time first;
    testing::virtual_time second;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    limit.set(1s);
    limit.begin(&first);
    EXPECT_EQ(first.armed_timers(), 1U);
    noting w(second);
    limit.begin(&second);
    ASSERT_TRUE(ready.enqueue(w));
    EXPECT_EQ(first.armed_timers(), 0U);
    EXPECT_EQ(second.armed_timers(), 1U);
    second.run();
    EXPECT_EQ(w.how, ext::claim::expired);
}

TEST(io_wait_limit, IO_32_timers_that_have_ended_limit_nothing) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    time.close();
    limit.set(1s);
    limit.begin(&time);
    limit.end();
}

TEST(io_wait_limit, IO_36_a_pause_ends_as_if_an_event_had_come) {
    testing::virtual_time time;
    io::detail::readiness ready(false);
    io::detail::wait_limit limit(ready);
    EXPECT_FALSE(limit.take_pause());
    limit.pause();
    EXPECT_TRUE(limit.take_pause());
    EXPECT_FALSE(limit.take_pause()) << "once";
    noting w(time);
    limit.begin(&time);
    ASSERT_TRUE(ready.enqueue(w));
    const time_point start = time.now();
    time.run();
    EXPECT_EQ(w.how, ext::claim::released);
    EXPECT_EQ(time.now() - start, io::detail::wait_limit::pause_length);
    EXPECT_TRUE(ready.look().is_ready());
}

// --- on streams ----------------------------------------------------------------------------------------------------------------

task<> read_in_vain() {
    tcp_pair both = connected();
    both.server.set_read_limit(5ms);
    std::array<char, 8> data{};
    const auto nothing = co_await both.server.read_some(data);
    EXPECT_EQ(nothing.code(), io::errc::timed_out);
    EXPECT_EQ(nothing.status(), wait_status::expired);
    co_await both.client.write_all("abc").or_throw();
    const auto part = co_await both.server.read_exactly(data);
    EXPECT_EQ(part.code(), io::errc::timed_out);
    EXPECT_EQ(part.transferred(), 3U);
    both.server.set_read_limit(duration::max());
    expect_false(co_await move_on_after(20ms, both.server.read_some(data)), "no limit any more");
}
TEST(io_wait_limit, IO_14_a_read_ends_at_its_limit) { on_each_host_run(&read_in_vain); }

task<> write_in_vain() {
    tcp_pair both = connected_narrow();
    both.client.set_write_limit(5ms);
    const std::string text = pattern(10'000'000);
    const auto sent = co_await both.client.write_all(text);
    EXPECT_EQ(sent.code(), io::errc::timed_out);
    EXPECT_GT(sent.transferred(), 0U);
    EXPECT_LT(sent.transferred(), text.size());
    expect_equal((co_await both.client.write_some(text)).code(), io::errc::timed_out);
    std::array<char, 8> data{};
    expect_false(co_await move_on_after(20ms, both.client.read_some(data)), "the other direction has no limit");
}
TEST(io_wait_limit, IO_14_a_write_ends_at_its_limit) { on_each_host_run(&write_in_vain); }

task<> write_now_and_then(io::tcp_stream& to) {
    for (int i = 0; i < 20; ++i) {
        co_await sleep_for(20ms);
        co_await to.write_all("x").or_throw();
    }
    to.close();
}
task<> read_steadily() {
    tcp_pair both = connected();
    both.server.set_read_limit(300ms);
    co_await with_scope(
        [](scope& s, tcp_pair& pair) -> task<> {
            s.launch("writer", write_now_and_then(pair.client));
            std::array<char, 8> data{};
            std::size_t count = 0;
            for (;;) {
                const std::size_t n = co_await pair.server.read_some(data).or_throw();
                if (n == 0) {
                    break;
                }
                count += n;
            }
            EXPECT_EQ(count, 20U) << "although all of it took longer than the limit";
        },
        std::ref(both));
}
TEST(io_wait_limit, IO_14_a_limit_does_not_fire_while_data_flows) { on_each_host_run(&read_steadily); }

task<> read_limited(io::tcp_stream& from) {
    std::array<char, 8> data{};
    const auto got = co_await from.read_some(data);
    // The byte of set_beside_a_reader() may come before the cancel.
    EXPECT_TRUE(got || got.code() == io::errc::closed || got.code() == io::errc::timed_out) << got.code().message();
}
task<> close_at_the_limit(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        tcp_pair both = connected();
        both.server.set_read_limit(std::chrono::microseconds(500));
        co_await with_scope(
            [](scope& s, tcp_pair& pair) -> task<> {
                s.launch("reader", read_limited(pair.server));
                co_await sleep_for(std::chrono::microseconds(500));
                pair.server.close();
            },
            std::ref(both));
    }
}
TEST(io_wait_limit, IO_14_a_close_may_meet_the_limit) {
    on_each_host([](host& where) { where.run(close_at_the_limit(100)); });
}

task<> read_many(io::tcp_stream& from, int count) {
    for (int i = 0; i < count; ++i) {
        std::array<char, 1> data{};
        co_await from.read_exactly(data).or_throw();
    }
}
task<> set_many(io::tcp_stream& of, int count) {
    for (int i = 0; i < count; ++i) {
        of.set_read_limit(i % 2 == 0 ? duration(40s) : duration(50s));
        co_await yield();
    }
}
task<> set_beside_a_reader() {
    tcp_pair both = connected();
    co_await with_scope(
        [](scope& s, tcp_pair& pair) -> task<> {
            s.launch("reader", read_many(pair.server, 200));
            s.launch("limits", set_many(pair.server, 200));
            for (int i = 0; i < 200; ++i) {
                co_await pair.client.write_all("x").or_throw();
                co_await yield();
            }
        },
        std::ref(both));
}
TEST(io_wait_limit, IO_14_a_limit_may_be_set_beside_a_reader) { on_each_host_run(&set_beside_a_reader); }

}  // namespace
