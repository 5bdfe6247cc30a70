#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using namespace std::chrono_literals;
using roost::testing::virtual_time;

struct call : work {
    explicit call(std::function<void()> f)
        : work(+[](work& w) noexcept { static_cast<call&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};
struct job : blocking_work {
    explicit job(std::function<void()> f)
        : blocking_work(+[](work& w) noexcept { static_cast<job&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};
struct test_timer : timer {
    explicit test_timer(std::function<void()> f)
        : timer(+[](timer& t) noexcept { static_cast<test_timer&>(t).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};

TEST(virtual_time, RUN_84_jumps_to_the_next_deadline_when_everything_is_blocked) {
    virtual_time v;
    const time_point begin = v.now();
    std::string order;
    test_timer day([&] {
        order += 'd';
        EXPECT_EQ(v.now() - begin, 24h);
    });
    test_timer second([&] {
        order += 's';
        EXPECT_EQ(v.now() - begin, 1s);
    });
    call ready([&] {
        order += 'r';
        EXPECT_EQ(v.now(), begin) << "time stands still while anything can run";
    });
    day.set_deadline(begin + 24h);
    second.set_deadline(begin + 1s);
    EXPECT_TRUE(v.timers()->arm(day) && v.timers()->arm(second) && v.post(ready));
    EXPECT_EQ(v.armed_timers(), 2U);
    EXPECT_EQ(v.pending_work(), 1U);
    v.run();
    EXPECT_EQ(v.armed_timers() + v.pending_work(), 0U);
    EXPECT_EQ(order, "rsd");
    EXPECT_EQ(v.now() - begin, 24h);
    EXPECT_FALSE(v.disarm(day));
}

TEST(virtual_time, RUN_133_the_same_seed_gives_bodies_the_same_random_numbers) {
    const auto draw = [](std::uint64_t seed) {
        virtual_time v(seed);
        std::vector<std::uint64_t> drawn;
        call first([&] { drawn.push_back(random_u64()); });
        call second([&] { drawn.push_back(random_u64()); });
        v.post(first);
        v.run();
        static_cast<void>(random_u64());  // of the thread's own
        v.post(second);
        v.run();
        return drawn;
    };
    const auto once = draw(7);
    EXPECT_EQ(once, draw(7));
    EXPECT_NE(once, draw(8));
    EXPECT_EQ(draw(0), draw(0));
    EXPECT_NE(once[0], once[1]);
}

TEST(virtual_time, RUN_85_the_same_seed_gives_the_same_order) {
    const auto order_of = [](std::uint64_t seed) {
        virtual_time v(seed);
        std::string order;
        std::vector<std::unique_ptr<call>> all;
        for (char c = 'a'; c <= 'z'; ++c) {
            all.push_back(std::make_unique<call>([&order, c] { order += c; }));
            v.post(*all.back());
        }
        v.run();
        EXPECT_EQ(order.size(), 26U);
        return order;
    };
    EXPECT_EQ(order_of(0), "abcdefghijklmnopqrstuvwxyz");
    EXPECT_EQ(order_of(7), order_of(7));
    EXPECT_NE(order_of(7), order_of(0));
    EXPECT_NE(order_of(7), order_of(8));
}

// The other thread may still be inside when what it did ends the executor.
TEST(virtual_time, RUN_150_a_thread_that_arms_or_disarms_may_be_the_last_inside) {
    for (int i = 0; i < 200; ++i) {
        auto v = std::make_unique<virtual_time>();
        bool fired = false;
        test_timer t([&] { fired = true; });
        t.set_deadline(v->now() + 1h);
        thread arms([&t, at = v.get()] { EXPECT_TRUE(at->arm(t)); });
        while (!fired) {
            v->run();
        }
        v.reset();
        arms.join();

        v = std::make_unique<virtual_time>();
        EXPECT_TRUE(v->arm(t));
        thread disarms([&t, at = v.get()] { EXPECT_TRUE(at->disarm(t)); });
        while (v->armed_timers() != 0) {
            yield_thread();
        }
        v.reset();
        disarms.join();
    }
}

TEST(virtual_time, RUN_133_random_numbers_of_blocking_work_that_other_threads_submit) {
    virtual_time v(7);
    atomic<int> ran{0};
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i < 20; ++i) {
        jobs.push_back(std::make_unique<job>([&] {
            static_cast<void>(random_u64());
            ran.fetch_add(1, mo::relaxed);
        }));
    }
    thread other([&] {
        for (const auto& j : jobs) {
            EXPECT_TRUE(v.submit(*j));
        }
    });
    call draws([] { static_cast<void>(random_u64()); });
    while (ran.load(mo::relaxed) != 20) {
        v.post(draws);
        v.run();
    }
    other.join();
    v.run();
}

TEST(virtual_time, RUN_86_stands_still_while_blocking_work_runs) {
    virtual_time v;
    const time_point begin = v.now();
    time_point resumed{};
    bool fired = false;
    test_timer t([&] { fired = true; });
    t.set_deadline(begin + 1h);
    v.arm(t);
    call after([&] { resumed = v.now(); });
    atomic<std::uint32_t> nobody{0};
    job slow([&] {
        wait_on_until(nobody, 0, deadline_after(roost::now(), 20ms));
        EXPECT_FALSE(fired);
        v.post(after);
    });
    EXPECT_TRUE(v.blocking()->submit(slow));
    v.run();
    EXPECT_EQ(resumed, begin);
    EXPECT_TRUE(fired);
    job never([] { ADD_FAILURE(); });
    v.close();
    EXPECT_FALSE(v.submit(never));
    EXPECT_FALSE(v.withdraw(never));
}

TEST(virtual_time, RUN_86_a_standstill_holds_the_clock_for_other_threads) {
    virtual_time v;
    const time_point begin = v.now();
    test_timer t([] {});
    t.set_deadline(begin + 1h);
    v.arm(t);
    bool posted = false;
    call c([&] {
        posted = true;
        EXPECT_EQ(v.now(), begin);
    });
    auto hold = std::make_unique<virtual_time::standstill>(v);
    thread other([&] {
        v.post(c);
        hold.reset();
    });
    EXPECT_TRUE(v.run_until([&] { return posted; }));
    other.join();
    v.run();
    EXPECT_EQ(v.now(), begin + 1h);
}

TEST(virtual_time, RUN_86_advancing_waits_for_blocking_work_at_every_step) {
    virtual_time v;
    const time_point begin = v.now();
    time_point resumed{};
    call after([&] { resumed = v.now(); });
    atomic<std::uint32_t> nobody{0};
    job slow([&] {
        wait_on_until(nobody, 0, deadline_after(roost::now(), 20ms));
        v.post(after);
    });
    test_timer t([&] { EXPECT_TRUE(v.submit(slow)); });
    t.set_deadline(begin + 1h);
    v.arm(t);
    v.advance(2h);
    EXPECT_EQ(resumed, begin + 1h);
    EXPECT_EQ(v.now(), begin + 2h);
}

TEST(virtual_time, RUN_87_run_counts_everything_that_ran) {
    for (int i = 0; i < 200; ++i) {
        virtual_time v;
        call last([] {});
        auto hold = std::make_unique<virtual_time::standstill>(v);
        thread other([&] {
            v.post(last);
            hold.reset();
        });
        EXPECT_EQ(v.run(), 1U) << "whenever it came";
        other.join();
    }
}

TEST(virtual_time, RUN_87_steps_of_the_test) {
    virtual_time v;
    const time_point begin = v.now();
    int fired = 0;
    test_timer a([&] { ++fired; });
    test_timer b([&] { ++fired; });
    a.set_deadline(begin + 10ms);
    b.set_deadline(begin + 30ms);
    v.arm(a);
    v.arm(b);
    EXPECT_EQ(v.run_ready(), 0U) << "the clock did not move";
    v.advance(20ms);
    EXPECT_EQ(fired, 1);
    EXPECT_EQ(v.now(), begin + 20ms);
    EXPECT_EQ(v.armed_timers(), 1U);
    EXPECT_NE(v.leaks().find("1 armed timer"), std::string::npos);
    EXPECT_TRUE(v.disarm(b));
    EXPECT_FALSE(v.run_until([] { return false; })) << "blocked for ever";
    EXPECT_EQ(v.leaks(), "");
}

// A gap in the clock, as after a suspended machine, and a clock that stands still: nothing early, nothing lost.
TEST(virtual_time, RUN_88_clock_gaps) {
    virtual_time v;
    std::mt19937_64 random(3);
    constexpr int count = 100000;
    int fired = 0;
    std::vector<std::unique_ptr<test_timer>> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(nullptr);
        auto& slot = all.back();
        slot = std::make_unique<test_timer>([&, i] {
            ++fired;
            EXPECT_GE(v.now(), all[static_cast<std::size_t>(i)]->deadline()) << "never early";
        });
        const auto offset = static_cast<std::int64_t>(random() % 7'200'000'000'000U) - 3'600'000'000'000;
        slot->set_deadline(v.now() + duration(offset));
        EXPECT_TRUE(v.arm(*slot));
    }
    test_timer forever([] { ADD_FAILURE(); });
    forever.set_deadline(no_deadline);
    test_timer before_time([&] { ++fired; });
    before_time.set_deadline(time_point::min());
    EXPECT_TRUE(v.arm(forever) && v.arm(before_time));
    v.run_ready();
    const int due_at_once = fired;
    EXPECT_GT(due_at_once, count / 3);
    v.run_ready();
    EXPECT_EQ(fired, due_at_once) << "the clock stands still";
    v.skip(1h);
    v.run_ready();
    EXPECT_EQ(fired, count + 1) << "everything is due after the gap";
    v.run();
    EXPECT_EQ(v.armed_timers(), 1U);
    EXPECT_TRUE(v.disarm(forever));
}

TEST(virtual_time_death, RUN_89_leaks_end_the_program_with_a_report) {
    EXPECT_DEATH(
        {
            virtual_time v(0, "lab");
            test_timer t([] {});
            t.set_deadline(v.now() + 1s);
            v.arm(t);
            call c([] {});
            v.post(c);
        },
        "virtual time 'lab': it was destroyed, but there is still 1 posted work.s. that never ran, 1 armed timer");
}

}  // namespace
