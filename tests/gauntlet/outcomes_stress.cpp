// Scenarios 16, 23 and 24: one outcome whatever happens at once, and clocks that misbehave.

#include <roost/base/failure_sink.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace std::chrono_literals;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::load;
using gauntlet::quiet;

task<> settle(event& go, std::atomic<bool>& fails, counted) {
    co_await go.wait();
    if (fails.load()) {
        throw std::runtime_error("planted");
    }
}
task<> under_a_deadline(event& go, std::atomic<bool>& fails, duration limit, census& frames, std::atomic<long>& timeouts) {
    try {
        co_await fail_after(limit, settle(go, fails, counted(frames)));
    } catch (const error& e) {
        timeouts.fetch_add(e.kind() == errc::timed_out ? 1 : 0);
        throw;
    }
}

TEST(gauntlet_outcomes, GAUNTLET_16_success_failure_cancel_and_timeout_at_once_give_one_outcome) {
    const quiet q("scenario 16");
    const long rounds = load(1'000'000, 2000);
    constexpr long batch = 500;
    census frames;
    long done = 0;
    long failed = 0;
    long cancelled = 0;
    std::atomic<long> timeouts{0};
    const failure_sink before =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    {
        runtime rt(runtime_options().workers(1));
        std::mt19937_64 random(16);
        for (long from = 0; from < rounds; from += batch) {
            struct one {
                event go;
                std::atomic<bool> fails{false};
                job j;
            };
            std::deque<one> all(batch);
            owned_scope root(rt, scope_options("root").report_failures());
            for (one& o : all) {
                const auto limit = std::chrono::microseconds(1 + random() % 200);
                o.j = root.launch("contested", under_a_deadline(o.go, o.fails, limit, frames, timeouts));
            }
            std::thread setter([&] {
                for (one& o : all) {
                    o.fails = (reinterpret_cast<std::uintptr_t>(&o) >> 6U) % 2 == 0;
                    o.go.set();
                }
            });
            for (one& o : all) {
                o.j.cancel();
                if ((random() & 3U) == 0) {
                    std::this_thread::yield();
                }
            }
            setter.join();
            root.close_blocking();
            for (const one& o : all) {
                const job_state s = o.j.state();
                done += s == job_state::completed ? 1 : 0;
                failed += s == job_state::failed ? 1 : 0;
                cancelled += s == job_state::cancelled ? 1 : 0;
            }
        }
    }
    set_failure_sink(before);
    const long asked = (rounds + batch - 1) / batch * batch;
    EXPECT_EQ(done + failed + cancelled, asked);
    EXPECT_LE(timeouts.load(), failed);
    q.expect_none(frames, "frames");
    q.say("%ld rounds: %ld completed, %ld failed, %ld timed out, %ld cancelled", asked, done, failed - timeouts.load(),
          timeouts.load(), cancelled);
}

// Timers on a clock that the test owns: stands still, jumps by an hour, and is asked for the impossible.
TEST(gauntlet_outcomes, GAUNTLET_23_no_timer_is_early_or_lost_whatever_the_clock_does) {
    const quiet q("scenario 23");
    const long n = load(1'000'000, 20'000);
    struct one : timer {
        explicit one(roost::testing::virtual_time& t)
            : timer(+[](timer& self) noexcept {
                  auto& me = static_cast<one&>(self);
                  ++me.fired;
                  me.early = me.clock->now() < me.deadline();
              }),
              clock(&t) {}
        roost::testing::virtual_time* clock;
        int fired = 0;
        bool early = false;
    };
    roost::testing::virtual_time clock(23);
    std::mt19937_64 random(23);
    std::deque<one> all;
    long never = 0;
    const auto pick = [&]() -> time_point {
        switch (random() % 8) {
            case 0: return deadline_after(clock.now(), duration::max());
            case 1: return deadline_after(clock.now(), -1h);
            case 2: return clock.now();
            case 3: return time_point::min();
            default: return deadline_after(clock.now(), std::chrono::microseconds(random() % 3'600'000'000));
        }
    };
    for (long i = 0; i < n; ++i) {
        one& t = all.emplace_back(clock);
        t.set_deadline(pick());
        never += t.deadline() == no_deadline ? 1 : 0;
        ASSERT_TRUE(clock.arm(t));
        if (i % (n / 8) == 0) {
            clock.run_ready();  // time stands still: what is due fires, nothing else
            clock.skip(1h);     // and then an hour is missing
        }
    }
    clock.advance(2h);
    long fired = 0;
    for (one& t : all) {
        ASSERT_FALSE(t.early);
        ASSERT_EQ(t.fired, t.deadline() == no_deadline ? 0 : 1);
        fired += t.fired;
        clock.disarm(t);
    }
    EXPECT_EQ(fired + never, n);
    EXPECT_EQ(clock.armed_timers(), 0U);
    q.say("%ld timers: %ld fired, none early, %ld due never", n, fired, never);
}

struct tally {
    long got = 0;
    long late = 0;
};
task<bool> take(semaphore& s) {
    auto p = co_await s.acquire();
    co_return true;
}
task<bool> take(pool<counted>& things) {
    auto got = co_await things.acquire("wanter");
    co_return static_cast<bool>(got);
}
template <class From>
task<> want(From& from, long rounds, tally& t) {
    for (long i = 0; i < rounds; ++i) {
        const auto answer = co_await move_on_after(1ms, take(from));
        (answer ? t.got : t.late) += 1;
        EXPECT_TRUE(!answer || *answer);
        co_await yield();
    }
}
// Gives it back in the tick in which the other one's time is up.
task<> hold(semaphore& s, long rounds) {
    for (long i = 0; i < rounds; ++i) {
        auto p = co_await s.acquire();
        co_await sleep_for(1ms);
    }
}
task<> hold(pool<counted>& things, long rounds) {
    for (long i = 0; i < rounds; ++i) {
        auto got = co_await things.acquire("holder");
        co_await sleep_for(1ms);
        if (i % 8 == 0) {
            got.handle().discard();  // then its place is handed over
        }
    }
}
template <class From>
void in_the_same_tick(From& from, std::uint64_t seed, long rounds, tally& t) {
    roost::testing::virtual_time clock(seed);
    owned_scope root(clock, scope_options("root").report_failures());
    root.launch("holder", hold(from, rounds));
    root.launch("wanter", want(from, rounds, t));
    root.request_close();
    clock.run();
    ASSERT_TRUE(root.is_closed());
}

TEST(gauntlet_outcomes, GAUNTLET_24_a_timeout_in_the_tick_of_the_hand_over_loses_nothing) {
    const quiet q("scenario 24");
    const long rounds = load(1'000'000, 1000) / 8;  // each of four seeds for permits and for resources
    census made;
    tally permits;
    tally resources;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        semaphore s(1, "contested");
        in_the_same_tick(s, seed, rounds, permits);
        ASSERT_EQ(s.available(), 1U);
        ASSERT_EQ(s.waiters_now(), 0U);
        pool<counted> things(pool_options(1, "contested"), [&] { return counted(made); });
        in_the_same_tick(things, seed, rounds, resources);
        const pool_stats now = things.stats();
        ASSERT_EQ(now.out + now.busy + now.waiting, 0U);
        ASSERT_EQ(now.idle + now.free, 1U);
        ASSERT_EQ(now.created - now.destroyed, now.idle);
        ASSERT_TRUE(things.close_blocking());
    }
    for (const tally* t : {&permits, &resources}) {
        EXPECT_EQ(t->got + t->late, rounds * 4);
        EXPECT_GT(t->got, 0);
        EXPECT_GT(t->late, 0);
    }
    q.expect_none(made, "resources");
    q.say(
        "%ld rounds for a permit: %ld in time, %ld timed out; %ld for a resource: %ld in time, %ld timed out; both still "
        "there",
        rounds * 4, permits.got, permits.late, rounds * 4, resources.got, resources.late);
}

}  // namespace
