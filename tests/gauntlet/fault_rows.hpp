#pragma once

// A table of functions in which the Nth allocation fails and the Nth call of user code throws, for every N.

#include <roost/task/checkpoint.hpp>
#include <roost/task/job.hpp>

#include "../task/rig.hpp"
#include "failing_calls.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace gauntlet {

// Plays a task to its end and throws what it failed with.
inline void play(roost::task<> t) {
    std::exception_ptr failed;
    {
        rig::stage s;
        const roost::job j = s.play(std::move(t));
        failed = j.error();
    }
    if (failed) {
        std::rethrow_exception(failed);
    }
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
                        EXPECT_EQ(outstanding.load(), had) << r.function << " leaks when failure " << n << " comes";
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
