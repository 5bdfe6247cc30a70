#include <roost/asio/detail/io_timers.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;
using roost::detail::io_timers;

struct counted_timer : timer {
    counted_timer() : timer(+[](timer& t) noexcept { ++static_cast<counted_timer&>(t).count; }) {}
    int count = 0;
};

TEST(io_timers, ASIO_12_timers_fire_once_in_order_and_not_early) {
    detail::net::io_context io;
    io_timers timers(io);
    counted_timer late;
    counted_timer early;
    counted_timer past;
    const time_point start = timers.now();
    late.set_deadline(start + 6ms);
    early.set_deadline(start + 2ms);
    past.set_deadline(start - 1s);
    EXPECT_TRUE(timers.arm(late));
    EXPECT_TRUE(timers.arm(early));
    EXPECT_TRUE(timers.arm(past));
    EXPECT_EQ(past.count, 0);  // never inside arm()
    io.run();
    EXPECT_GE(timers.now(), start + 6ms);
    EXPECT_EQ(late.count, 1);
    EXPECT_EQ(early.count, 1);
    EXPECT_EQ(past.count, 1);
    EXPECT_FALSE(timers.disarm(late));
    EXPECT_EQ(timers.close(), 0U);
}

TEST(io_timers, ASIO_12_a_disarmed_timer_never_fires_and_lets_run_return) {
    detail::net::io_context io;
    io_timers timers(io);
    counted_timer t;
    t.set_deadline(timers.now() + 1h);
    EXPECT_TRUE(timers.arm(t));
    io.poll();
    EXPECT_TRUE(timers.disarm(t));
    io.run();  // returns: nothing is armed
    EXPECT_EQ(t.count, 0);
    io.restart();
    t.set_deadline(timers.now() + 1ms);
    EXPECT_TRUE(timers.arm(t));  // and again
    io.run();
    EXPECT_EQ(t.count, 1);
    EXPECT_EQ(timers.close(), 0U);
}

TEST(io_timers, ASIO_12_closed_timers_refuse) {
    detail::net::io_context io;
    io_timers timers(io);
    counted_timer t;
    t.set_deadline(timers.now() + 1h);
    EXPECT_TRUE(timers.arm(t));
    EXPECT_EQ(timers.close(), 1U);
    EXPECT_TRUE(timers.disarm(t));
    EXPECT_FALSE(timers.arm(t));
    io.run();
    EXPECT_EQ(t.count, 0);
}

}  // namespace
