// The realtime half of scenario 23. Setting the machine's clock takes a right that tests do not have, and would hit everybody on
// it. A step of it reaches a program in three ways: by reading it, by a condition variable that waits for one of its moments, or
// by a futex that does. So this program answers the first itself, a day off in either direction and another one each time, and
// counts the other two, which have to stay at nought: every wait of Roost is for a moment of the monotonic clock.

#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include "../runtime/fixture.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>

namespace {

std::atomic<bool> astray{false};
std::atomic<long> readings{0};
std::atomic<long> waits_for_realtime{0};

#if !ROOST_TEST_SANITIZED  // sanitizers have these functions for themselves
template <class Function>
Function* libc(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#endif

}  // namespace

#if !ROOST_TEST_SANITIZED

extern "C" int clock_gettime(clockid_t which, timespec* into) noexcept {
    static auto* const real = libc<int(clockid_t, timespec*)>("clock_gettime");
    const int result = real(which, into);
    if ((which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) && astray.load(std::memory_order_relaxed)) {
        const long n = readings.fetch_add(1, std::memory_order_relaxed);
        into->tv_sec += (n % 2 == 0 ? 1 : -1) * (24 * 3600 + n % 60);
    }
    return result;
}
extern "C" int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* limit) {
    static auto* const real = libc<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
    waits_for_realtime.fetch_add(astray.load(std::memory_order_relaxed) ? 1 : 0, std::memory_order_relaxed);
    return real(c, m, limit);
}
extern "C" long syscall(long number, ...) noexcept {
    static auto* const real = libc<long(long, long, long, long, long, long, long)>("syscall");
    std::va_list arguments;
    va_start(arguments, number);
    long a[6];
    for (long& one : a) {
        one = va_arg(arguments, long);
    }
    va_end(arguments);
    if (number == SYS_futex && (a[1] & FUTEX_CLOCK_REALTIME) != 0 && astray.load(std::memory_order_relaxed)) {
        waits_for_realtime.fetch_add(1, std::memory_order_relaxed);
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;
using gauntlet::load;
using gauntlet::quiet;

struct tally {
    std::atomic<long> slept{0};
    std::atomic<long> timed_out{0};
    std::atomic<long> early{0};
};
task<> for_ever(event& e) { co_await e.wait(); }
task<> sleeper(tally& t, event& never, long times) {
    for (long i = 0; i < times; ++i) {
        const duration d = std::chrono::microseconds(200 + i % 1000);
        const time_point due = deadline_after(now(), d);
        if (i % 2 == 0) {
            co_await sleep_for(d);
            t.slept.fetch_add(1);
        } else {
            const bool over = co_await move_on_after(d, for_ever(never));
            t.timed_out.fetch_add(over ? 0 : 1);
        }
        t.early.fetch_add(now() < due ? 1 : 0);
    }
}

TEST(gauntlet_realtime, GAUNTLET_23_a_realtime_clock_that_is_a_day_off_moves_no_timer) {
    if (gauntlet::sanitized) {
        GTEST_SKIP() << "the sanitizer answers for the clock";
    }
    const quiet q("scenario 23");
    const long jobs = 64;
    const long times = load(500, 20);
    const long before = readings.load();
    tally t;
    event never;
    long blocked = 0;
    astray = true;
    const auto one = std::chrono::system_clock::now();
    const auto other = std::chrono::system_clock::now();
    {
        runtime rt(runtime_options().workers(2));
        owned_scope root(rt, scope_options("root").report_failures());
        for (long i = 0; i < jobs; ++i) {
            root.launch("sleeper", sleeper(t, never, times));
        }
        root.request_close();
        while (!root.is_closed()) {
            const time_point until = deadline_after(now(), 1ms);
            EXPECT_FALSE(never.wait_blocking(until));
            EXPECT_GE(now(), until);
            ++blocked;
        }
        root.close_blocking();
    }
    astray = false;
    EXPECT_GT(one - other, 47h) << "the clock is this program's";
    EXPECT_EQ(waits_for_realtime.load(), 0);
    EXPECT_EQ(t.early.load(), 0);
    EXPECT_EQ(t.slept.load() + t.timed_out.load(), jobs * times);
    q.say(
        "realtime a day off, %ld readings: %ld sleeps, %ld timeouts, %ld blocking waits, none early, none lost, %ld waits "
        "for it",
        readings.load() - before - 2, t.slept.load(), t.timed_out.load(), blocked, waits_for_realtime.load());
}

}  // namespace
