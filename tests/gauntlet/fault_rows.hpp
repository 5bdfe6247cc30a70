#pragma once

// A table of functions in which the Nth allocation fails and the Nth call of user code throws, for every N.

#include "failing_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <thread>

namespace gauntlet {

inline thread_local long user_calls_left = -1;

struct planted : std::runtime_error {
    planted() : std::runtime_error("planted") {}
};

// What every piece of user code in a row calls.
inline void user_code() {
    if (user_calls_left >= 0 && user_calls_left-- == 0) {
        throw planted();
    }
}

struct fault_row {
    const char* function;
    void (*act)();
};

// True: it went through with nothing left to fail.
inline bool attempt_row(const fault_row& r, long n, bool memory) {
    bool threw = false;
    (memory ? allocations_left : user_calls_left) = n;
    try {
        r.act();
    } catch (...) {
        threw = true;
    }
    const bool untouched = (memory ? allocations_left : user_calls_left) >= 0;
    allocations_left = -1;
    user_calls_left = -1;
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
