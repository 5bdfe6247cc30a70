#pragma once

// A table of functions in which the Nth allocation fails and the Nth call of user code throws, for every N.

#include <roost/task/job.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/this_task.hpp>

#include "../task/rig.hpp"
#include "failing_calls.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace gauntlet {

inline void rethrow(const std::exception_ptr& failed) {
    if (failed) {
        std::rethrow_exception(failed);
    }
}

// Plays a task to its end and throws what it failed with.
inline void play(roost::task<> t) {
    std::exception_ptr failed;
    {
        rig::stage s;
        const roost::job j = s.play(std::move(t));
        failed = j.error();
    }
    rethrow(failed);
}

// What the task that `close` gives failed with, or what kept it from being started.
template <class Close>
std::exception_ptr failure_of(rig::manual& where, Close close) {
    try {
        roost::owned_scope root(where, roost::scope_options("root").report_failures());
        std::exception_ptr failed;
        try {
            const roost::job closer = root.launch("closer", close());
            where.run();
            EXPECT_TRUE(closer.is_finished());
            failed = closer.error();
        } catch (...) {
            failed = std::current_exception();
        }
        root.request_close();
        where.run();
        return failed;
    } catch (...) {
        return std::current_exception();
    }
}
// Runs `act`, then the task that `close` gives, twice: the second time nothing fails, as what was started has to be joined,
// whatever happened. This and the next throw what `act` threw or a job failed with.
template <class Act, class Close>
void and_close(rig::manual& where, Act act, Close close) {
    std::exception_ptr failed;
    try {
        act();
    } catch (...) {
        failed = std::current_exception();
    }
    where.run();
    if (std::exception_ptr closing = failure_of(where, close)) {
        failed = std::move(closing);
    }
    {
        const calm unharmed;
        if (std::exception_ptr again = failure_of(where, close)) {
            failed = std::move(again);
        }
    }
    rethrow(failed);
}
// `act` gives what its job failed with.
template <class Act>
void and_join(rig::manual& where, roost::owned_scope& root, Act act) {
    std::exception_ptr failed;
    try {
        failed = act();
    } catch (...) {
        failed = std::current_exception();
    }
    root.request_close();
    where.run();
    root.close_blocking();
    rethrow(failed);
}

// User code before and after a suspension.
inline roost::task<int> leaf(int v) {
    user();
    co_await roost::yield();
    user();
    co_return v;
}

struct fault_row {
    const char* function;
    void (*act)();
};

// True: it went through with nothing left to fail.
inline bool attempt_row(const fault_row& r, long n, bool memory) {
    bool threw = false;
    (memory ? allocations_left : calls_left) = n;
    try {
        r.act();
    } catch (...) {
        threw = true;
    }
    const bool untouched = (memory ? allocations_left : calls_left) >= 0;
    allocations_left = -1;
    calls_left = -1;
    EXPECT_FALSE(threw && untouched) << r.function << ": failed without a fault";
    if (!untouched) {
        try {
            r.act();
        } catch (...) {
            ADD_FAILURE() << r.function << ": does not work after failure " << n;
        }
    }
    return untouched;
}

// Returns the number of allocations that are not freed, once it is at most `had`. Another thread may be about to free its last
// ones: waits for it. After ten seconds they are leaked.
inline long left_after(long had) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (outstanding.load() > had && std::chrono::steady_clock::now() < limit) {
        std::this_thread::yield();
    }
    return outstanding.load();
}

// How many faults there were.
template <std::size_t N>
long try_rows(const fault_row (&table)[N]) {
    long faults = 0;
    for (const fault_row& r : table) {
        for (const bool memory : {true, false}) {
            long n = 0;
            for (const bool counts : {false, true}) {  // what is made once per process is made in the first pass
                const long had = outstanding.load();
                bool over = false;
                for (n = 0; n < 500 && !over; ++n) {
                    std::thread([&] { over = attempt_row(r, n, memory); }).join();
                    if (counts) {
                        EXPECT_LE(left_after(had), had) << r.function << " leaks when failure " << n << " comes";
                    }
                }
                EXPECT_TRUE(over) << r.function;
            }
            faults += n - 1;
        }
    }
    return faults;
}

}  // namespace gauntlet
