#include <roost/runtime/blocking_lane.hpp>
#include <roost/runtime/runtime.hpp>

#include "../gauntlet/quiet.hpp"
#include "fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include <dlfcn.h>
#include <pthread.h>

// Scenario 19: the operating system refuses the kth thread. This program replaces pthread_create to say so.

#if !ROOST_TEST_SANITIZED

namespace {
int threads_allowed = -1;  // negative: no limit
}

extern "C" int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) noexcept {
    using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto real = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (threads_allowed == 0) {
        return EAGAIN;
    }
    if (threads_allowed > 0) {
        --threads_allowed;
    }
    return real(id, attributes, body, argument);
}

namespace {

using namespace runtime_tests;

int live_threads() {
    std::ifstream status("/proc/self/status");
    std::string word;
    int count = 0;
    while (status >> word) {
        if (word == "Threads:") {
            status >> count;
        }
    }
    return count;
}
// A joined thread is counted for a moment longer: waits until there are no more than so many.
int live_threads_down_to(int wanted) {
    const time_point hangs = deadline_after(now(), std::chrono::seconds(60));
    int count = live_threads();
    while (count > wanted && now() < hangs) {
        yield_thread();
        count = live_threads();
    }
    return count;
}

TEST(thread_failure, RUN_19_GAUNTLET_19_the_constructor_throws_and_leaves_no_thread) {
    const gauntlet::quiet q("scenario 19");  // descriptors and memory, too
    int before = live_threads();
    for (int look = 0; look < 100; ++look) {  // those of earlier tests may be counted for a moment longer, too
        yield_thread();
        before = std::min(before, live_threads());
    }
    for (const unsigned workers : {1U, 8U}) {
        const int needed = static_cast<int>(workers) + 1;  // and the keeper
        for (int allowed = 0; allowed < needed; ++allowed) {
            threads_allowed = allowed;
            EXPECT_THROW(runtime rt(runtime_options().workers(workers)), std::system_error) << allowed;
            threads_allowed = -1;
            EXPECT_LE(live_threads_down_to(before), before);
        }
        threads_allowed = needed;
        {
            runtime rt(runtime_options().workers(workers));
            EXPECT_EQ(threads_allowed, 0);
            threads_allowed = -1;
        }
        EXPECT_LE(live_threads_down_to(before), before);
        q.say("%d of %d threads refused in turn, %d alive as before", needed, needed, before);
    }
}

TEST(thread_failure, RUN_49_a_lane_without_a_thread_refuses_and_with_one_queues) {
    struct job : blocking_work {
        explicit job(std::function<void()> f)
            : blocking_work(+[](work& w) noexcept { static_cast<job&>(w).body(); }), body(std::move(f)) {}
        std::function<void()> body;
    };
    int ran = 0;
    countdown gate(1);
    job a([&] {
        gate.wait();
        ++ran;
    });
    job b([&] { ++ran; });
    blocking_lane lane(4);
    threads_allowed = 0;
    EXPECT_FALSE(lane.submit(a));
    threads_allowed = 1;
    EXPECT_TRUE(lane.submit(a));
    EXPECT_TRUE(lane.submit(b)) << "the one thread will get to it";
    threads_allowed = -1;
    gate.down();
    lane.close();
    EXPECT_EQ(ran, 2);
}

}  // namespace

#endif
