#include <roost/runtime/loop.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace {

using namespace runtime_tests;

static_assert(!std::is_copy_constructible_v<loop>);

std::size_t poll_all(loop& l) {
    std::size_t ran = 0;
    while (const std::size_t some = l.poll()) {
        ran += some;
    }
    return ran;
}

TEST(loop, RUN_30_runs_on_the_calling_thread_until_closed_and_empty) {
    loop l("main loop");
    const std::uint32_t me = thread_index();
    int ran = 0;
    call b([&] { ++ran; });
    call a([&] {
        EXPECT_EQ(thread_index(), me);
        EXPECT_TRUE(l.is_here());
        ++ran;
        l.post(b);
        l.close();
        EXPECT_TRUE(l.post(a)) << "its own thread may still post";
        a.body = [&] { ++ran; };
    });
    EXPECT_FALSE(l.is_here());
    EXPECT_TRUE(l.post(a));
    l.run();
    EXPECT_EQ(ran, 3);
    call late([] {});
    EXPECT_FALSE(l.post(late));
    EXPECT_EQ(l.name(), "main loop");
}

TEST(loop, RUN_31_newest_first_except_for_who_gives_way) {
    loop l;
    std::string order;
    call a([&] { order += 'a'; });
    call b([&] { order += 'b'; });
    call c([&] { order += 'c'; });
    call start([&] {
        l.post_last(c);
        l.post(a);
        l.post(b);
    });
    l.post(start);
    EXPECT_EQ(l.poll(), 3U) << "RUN-198: what gave way is left";
    EXPECT_EQ(l.poll(), 1U);
    EXPECT_EQ(order, "bac");
    EXPECT_EQ(l.poll(), 0U);
}

TEST(loop, RUN_132_who_gives_way_goes_behind_everything_that_was_queued_earlier) {
    loop l;
    std::string order;
    call outside([&] { order += 'o'; });
    call a([&] { order += 'a'; });
    call b([&] { order += 'b'; });
    call yields([&] { order += 'y'; });
    call later([&] { order += 'l'; });
    call start([&] {
        l.post(a);
        l.post(b);
        thread([&] { l.post(outside); }).join();
        l.post_last(yields);
        l.post_last(later);
    });
    l.post(start);
    EXPECT_EQ(poll_all(l), 6U);
    EXPECT_EQ(order, "aboyl");
}

// A body that comes back at once, again and again, by either way, and posts from another thread.
TEST(loop, RUN_131_outside_work_waits_for_at_most_64_bodies) {
    for (const bool gives_way : {false, true}) {
        loop l;
        int bodies = 0;
        int posted_at = 0;
        int longest = 0;
        int left = 50;
        call* again = nullptr;
        call outside([&] {
            longest = std::max(longest, bodies - posted_at);
            --left;
            posted_at = 0;
        });
        call keen([&] {
            ++bodies;
            if (posted_at == 0 && left > 0) {
                posted_at = bodies;
                thread([&] { l.post(outside); }).join();
            }
            if (left > 0 && bodies < 100000) {
                gives_way ? l.post_last(*again) : l.post(*again);
            }
        });
        again = &keen;
        l.post(keen);
        poll_all(l);
        EXPECT_EQ(left, 0);
        EXPECT_LE(longest, 64);
    }
}

TEST(loop, RUN_32_stop_returns_after_the_current_body_and_run_goes_on_later) {
    loop l;
    int ran = 0;
    call b([&] { ++ran; });
    call a([&] {
        ++ran;
        l.post(b);
        l.stop();
    });
    l.post(a);
    l.run();
    EXPECT_EQ(ran, 1);
    l.close();
    l.run();
    EXPECT_EQ(ran, 2);
}

TEST(loop, RUN_198_poll_fires_timers_while_bodies_keep_waking_each_other) {
    loop l;
    const time_point begin = now();
    int ran = 0;
    test_timer soon;
    soon.set_deadline(deadline_after(begin, std::chrono::milliseconds(2)));
    EXPECT_TRUE(l.timers()->arm(soon));
    // Far more bodies at the start than run in that time, each of which wakes another.
    std::deque<call> many;
    for (int i = 0; i < 100; ++i) {
        many.emplace_back([&, i] {
            ++ran;
            const time_point from = now();
            while (now() - from < std::chrono::microseconds(100)) {}
            if (soon.count == 0 && now() - begin < std::chrono::seconds(5)) {
                l.post(many[static_cast<std::size_t>(i)]);
            }
        });
        EXPECT_TRUE(l.post(many.back()));
    }
    l.poll();
    EXPECT_EQ(soon.count, 1);
    poll_all(l);
}

TEST(loop, RUN_198_poll_returns_although_bodies_yield_or_wake_each_other) {
    for (const bool gives_way : {false, true}) {
        loop l;
        std::size_t left = 100000;
        call* again = nullptr;
        call keen([&] {
            if (--left != 0) {
                gives_way ? l.post_last(*again) : l.post(*again);
            }
        });
        again = &keen;
        l.post(keen);
        EXPECT_LE(l.poll(), gives_way ? 1U : 64U);
        EXPECT_GT(left, 0U);
        poll_all(l);
        EXPECT_EQ(left, 0U) << "nothing is lost";
    }
}

TEST(loop, RUN_33_sleeps_until_the_next_timer) {
    loop l;
    time_point fired{};
    test_timer a([&] {
        fired = now();
        l.stop();
    });
    a.set_deadline(deadline_after(now(), std::chrono::milliseconds(20)));
    EXPECT_TRUE(l.timers()->arm(a));
    l.run();
    EXPECT_GE(fired, a.deadline());
    // Armed from another thread while the loop sleeps without a deadline.
    thread other([&] {
        a.set_deadline(deadline_after(now(), std::chrono::milliseconds(1)));
        EXPECT_TRUE(l.timers()->arm(a));
    });
    l.run();
    other.join();
    EXPECT_EQ(a.count, 2);
}

TEST(loop, RUN_34_work_of_another_thread_wakes_it) {
    loop l;
    int rounds = 0;
    countdown done(1);
    thread poster([&] {
        for (int i = 0; i < 200; ++i) {
            countdown one(1);
            call c([&] {
                ++rounds;
                one.down();
            });
            l.post(c);
            one.wait();
        }
        l.close();
    });
    l.run();
    poster.join();
    EXPECT_EQ(rounds, 200);
}

TEST(loop_death, RUN_35_lost_work_ends_the_program) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            loop l("short");
            call c([] {});
            l.post(c);
        },
        "loop 'short': it was destroyed with queued work");
}

}  // namespace
