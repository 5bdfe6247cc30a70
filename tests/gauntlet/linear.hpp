#pragma once

// How the cost of something grows with its depth: measured on a small stack, in processor time of the thread.

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>

namespace gauntlet {

inline std::chrono::nanoseconds thread_cpu_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// Calls fn on a stack that holds a few hundred calls. Sanitizers need more, and do not like stacks that are not a thread's.
template <class Fn>
void on_small_stack(Fn fn) {
    if constexpr (sanitized) {
        fn();
    } else {
        constexpr std::size_t size = std::size_t(192) << 10U;
        constexpr std::size_t guard = std::size_t(64) << 10U;
        void* const memory = ::mmap(nullptr, size + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        ASSERT_EQ(::mprotect(memory, guard, PROT_NONE), 0);
        static Fn* to_call = nullptr;
        to_call = &fn;
        ucontext_t back{};
        ucontext_t there{};
        ::getcontext(&there);
        there.uc_stack.ss_sp = static_cast<char*>(memory) + guard;
        there.uc_stack.ss_size = size;
        there.uc_link = &back;
        ::makecontext(&there, +[] { (*to_call)(); }, 0);
        ::swapcontext(&back, &there);
        ::munmap(memory, size + guard);
    }
}

// From a shallow one to one that is `times_deeper` as deep. Linear is that, with some more for memory that is not in the cache;
// quadratic would be its square.
template <class Cost>
void expect_linear(const quiet& q, const char* what, const char* how, int depth, int times_deeper, Cost cost) {
    std::chrono::nanoseconds small = std::chrono::hours(1);
    std::chrono::nanoseconds large{};
    on_small_stack([&] {
        static_cast<void>(cost(depth / times_deeper));
        for (int i = 0; i < 3; ++i) {
            small = std::min(small, cost(depth / times_deeper));
        }
        large = cost(depth);
    });
    const auto ratio = [&] {
        return static_cast<double>(large.count()) / static_cast<double>(std::max<long>(small.count(), 1));
    };
    for (int again = 0; again < 2 && ratio() >= 15.0 * times_deeper; ++again) {  // others may have had the cache
        on_small_stack([&] { large = std::min(large, cost(depth)); });
    }
    const double times = ratio();
    EXPECT_LT(times, 15.0 * times_deeper) << what << ", " << how << ": " << times_deeper << " times as deep";
    q.say("%d %s, %s: %.3f s, %.0f times the cost of %d", depth, what, how, std::chrono::duration<double>(large).count(),
          times, depth / times_deeper);
}

}  // namespace gauntlet
