// The numbers of threads at the ends of threads, and in forked children.

#include <roost/base/atomic.hpp>

#include "../gauntlet/sanitized.hpp"
#include "without_membarrier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using roost::seam::thread_index;
namespace mo = roost::seam::mo;

namespace {

// Made before the thread has a number, so destroyed after everything that is made later.
struct late {
    bool used = false;
    ~late() {
        if (used) {
            static_cast<void>(thread_index());
        }
    }
};
thread_local late uses_it_late;

TEST(thread_index, BASE_37_a_thread_local_that_uses_it_at_the_end_keeps_none) {
    std::uint32_t most = 0;
    for (int i = 0; i < 200; ++i) {
        roost::seam::thread([&] {
            uses_it_late.used = true;
            most = std::max(most, thread_index());
        }).join();
    }
    EXPECT_LT(most, 100U) << "numbers are given back";
}

TEST(thread_index, BASE_37_nor_a_destructor_of_a_key) {
    pthread_key_t key{};
    ASSERT_EQ(pthread_key_create(&key, +[](void*) { static_cast<void>(thread_index()); }), 0);
    std::uint32_t most = 0;
    for (int i = 0; i < 200; ++i) {
        roost::seam::thread([&] {
            pthread_setspecific(key, &key);
            most = std::max(most, thread_index());
        }).join();
    }
    EXPECT_LT(most, 100U);
    pthread_key_delete(key);
}

TEST(thread_index, BASE_38_a_child_has_its_own_threads_number_only) {
    if (gauntlet::under_tsan) {
        GTEST_SKIP() << "ThreadSanitizer ends a child of several threads that starts a thread";
    }
    roost::seam::atomic<std::uint32_t> arrived{0};
    roost::seam::atomic<bool> over{false};
    std::vector<roost::seam::thread> others;
    for (int i = 0; i < 4; ++i) {
        others.emplace_back([&] {
            static_cast<void>(thread_index());
            arrived.fetch_add(1, mo::acq_rel);
            while (!over.load(mo::acquire)) {
                roost::seam::yield_thread();
            }
        });
    }
    while (arrived.load(mo::acquire) != 4) {
        roost::seam::yield_thread();
    }
    const std::uint32_t mine = thread_index();
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        std::uint32_t others_number = 1000;
        roost::seam::thread([&] { others_number = thread_index(); }).join();
        _exit(thread_index() == mine && others_number == (mine == 0 ? 1U : 0U) ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    over.store(true, mo::release);
    for (roost::seam::thread& t : others) {
        t.join();
    }
}

#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
TEST(barrier, BASE_39_a_refusal_later_is_survived_and_still_orders) {
    if (!roost::seam::has_heavy_barrier()) {
        GTEST_SUCCEED() << "this kernel has no membarrier";
        return;
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        if (!without_membarrier::begin()) {
            _exit(without_membarrier::not_possible);
        }
        bool fine = true;
        for (int round = 0; round < 50; ++round) {
            roost::seam::atomic<int> light_flag{0};
            roost::seam::atomic<int> heavy_flag{0};
            int light_saw = -1;
            roost::seam::thread light([&] {
                light_flag.store(1, mo::relaxed);
                roost::seam::light_barrier();
                light_saw = heavy_flag.load(mo::relaxed);
            });
            heavy_flag.store(1, mo::relaxed);
            roost::seam::heavy_barrier();
            const int heavy_saw = light_flag.load(mo::relaxed);
            light.join();
            fine = fine && !roost::seam::has_heavy_barrier() && (light_saw == 1 || heavy_saw == 1);
        }
        _exit(fine ? without_membarrier::held : without_membarrier::broken);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(without_membarrier::is_fine(status)) << status;
}
#endif

// The waiting thread and the one it waits for share one processor, and the waiting one is never taken off it.
TEST(yield_thread, BASE_40_a_real_time_thread_lets_others_run) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
        roost::seam::atomic<bool> begun{false};
        roost::seam::atomic<bool> done{false};
        if (sched_setaffinity(0, sizeof one, &one) != 0) {
            _exit(0);
        }
        roost::seam::thread other([&] {
            while (!begun.load(mo::acquire)) {
                roost::seam::yield_thread();
            }
            done.store(true, mo::release);
        });
        const sched_param urgent{1};
        if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent) != 0) {
            begun.store(true, mo::release);
            other.join();
            _exit(0);  // not allowed here
        }
        begun.store(true, mo::release);
        unsigned yields = 0;
        for (; !done.load(mo::acquire); ++yields) {
            roost::seam::yield_thread();
        }
        other.join();
        _exit(yields < 10'000 ? 0 : 1);  // a kernel that throttles such threads lets others run after a second
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
