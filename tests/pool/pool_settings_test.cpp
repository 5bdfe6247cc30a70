// What follows from the options. Options that are refused: options_test.cpp.

#include <roost/pool/detail/pool_settings.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using roost::pool_options;
using roost::detail::pool_kinds;
using roost::detail::pool_settings;

pool_settings settings_of(const pool_options& o, pool_kinds how = {}) { return {o, how, roost::site::here()}; }

TEST(pool_settings, POOL_1_room_warmth_and_stripes_are_completed) {
    pool_options o(25, "big");
    o.stripes = 1;
    o.warm = 30;
    const pool_settings s = settings_of(o);
    EXPECT_EQ(s.options.room, 25U);
    EXPECT_EQ(s.options.warm, 25U);
    EXPECT_EQ(s.options.stripes, 3U) << "ten slots in a stripe";
    o.room = 95;
    EXPECT_EQ(settings_of(o).options.stripes, 10U);
}

TEST(pool_settings, POOL_26_a_plain_pool_examines_nothing_and_tracks_nothing) {
    const pool_settings plain = settings_of(pool_options(1));
    EXPECT_FALSE(plain.examines || plain.has_upkeep || plain.tracks_ages || plain.has_backoff());
    pool_options aging(1);
    aging.idle_ttl = 1s;
    const pool_settings s = settings_of(aging);
    EXPECT_TRUE(s.has_upkeep && s.examines);
    pool_kinds with_check;
    with_check.has_check = true;
    const pool_settings checked = settings_of(pool_options(1), with_check);
    EXPECT_TRUE(checked.examines);
    EXPECT_FALSE(checked.has_upkeep);
    pool_options tracked(1);
    tracked.track_ages = true;
    EXPECT_TRUE(settings_of(tracked).tracks_ages);
}

TEST(pool_settings, POOL_26_an_exact_clock_is_the_timers_clock) {
    roost::testing::virtual_time time;
    pool_options o(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    const pool_settings s = settings_of(o);
    const std::int64_t before = s.time_now();
    time.advance(7ms);
    EXPECT_EQ(s.time_now() - before, std::chrono::nanoseconds(7ms).count());
}

}  // namespace
