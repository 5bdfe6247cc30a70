#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <set>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

static_assert(!std::is_copy_constructible_v<roost::seam::atomic<int>>);
static_assert(sizeof(roost::seam::atomic<int>) == sizeof(int));

namespace {

namespace mo = roost::seam::mo;
using namespace std::chrono_literals;

TEST(atomic, BASE_15_wait_on_returns_when_the_word_changed_before) {
    roost::seam::atomic<std::uint32_t> word{1};
    roost::seam::wait_on(word, 0);
    EXPECT_FALSE(roost::seam::wait_on_until(word, 1, roost::now() + 1ms)) << "no thread wakes it";
    EXPECT_FALSE(roost::seam::wait_on_until(word, 1, roost::time_point(-5ns)));
    EXPECT_FALSE(roost::seam::wait_on_until(word, 1, roost::time_point::min()));
}

TEST(atomic, BASE_15_wake_reaches_a_blocked_thread) {
    roost::seam::atomic<std::uint32_t> word{0};
    roost::seam::thread sleeper([&] {
        while (word.load(mo::acquire) == 0) {
            roost::seam::wait_on_until(word, 0, roost::no_deadline);
        }
    });
    word.store(1, mo::release);
    roost::seam::wake_on(&word, 1);
    sleeper.join();
    EXPECT_EQ(word.load(mo::relaxed), 1U);
}

roost::seam::atomic<int> signals_handled{0};

// Not even ThreadSanitizer keeps it for as long as the thread sleeps.
TEST(atomic, BASE_28_a_signal_is_handled_by_a_thread_that_sleeps) {
    signals_handled.store(0, mo::relaxed);
    struct sigaction mine{};
    struct sigaction before{};
    mine.sa_handler = [](int) { signals_handled.fetch_add(1, mo::relaxed); };
    mine.sa_flags = SA_RESTART;
    ASSERT_EQ(::sigaction(SIGUSR2, &mine, &before), 0);
    roost::seam::atomic<std::uint32_t> word{0};
    roost::seam::atomic<bool> begins{false};
    ::pthread_t who{};
    roost::seam::thread sleeper([&] {
        who = ::pthread_self();
        begins.store(true, mo::release);
        while (word.load(mo::acquire) == 0) {
            roost::seam::wait_on(word, 0);
        }
    });
    while (!begins.load(mo::acquire)) {
        ::sched_yield();
    }
    ::usleep(2000);  // asleep by now, most likely
    EXPECT_EQ(::pthread_kill(who, SIGUSR2), 0);
    for (const roost::time_point hangs = roost::now() + 30s;
         signals_handled.load(mo::relaxed) == 0 && roost::now() < hangs;) {
        ::usleep(100);
    }
    EXPECT_EQ(signals_handled.load(mo::relaxed), 1);
    word.store(1, mo::release);
    roost::seam::wake_on(&word, 1);
    sleeper.join();
    ::sigaction(SIGUSR2, &before, nullptr);
}

TEST(atomic, BASE_15_portable_wait_times_out_and_is_notified) {
    roost::seam::os_mutex lock;
    roost::seam::os_condvar changed;
    bool ready = false;
    lock.lock();
    EXPECT_FALSE(changed.wait_until(lock, roost::now() + 1ms));
    roost::seam::thread notifier([&] {
        lock.lock();
        ready = true;
        lock.unlock();
        changed.notify_one();
    });
    while (!ready) {
        changed.wait(lock);
    }
    lock.unlock();
    notifier.join();
}

TEST(atomic, BASE_16_the_small_lock_excludes_and_hands_over) {
    roost::seam::small_mutex lock;
    long inside = 0;
    std::vector<roost::seam::thread> threads;
    constexpr int rounds = 20'000;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                lock.lock();
                ++inside;  // a race here is seen by ThreadSanitizer, a lost update by the sum
                lock.unlock();
                if (lock.try_lock()) {
                    ++inside;
                    --inside;
                    lock.unlock();
                }
            }
        });
    }
    for (roost::seam::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(inside, 4L * rounds);
    lock.lock();
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
}

TEST(atomic, BASE_16_a_thread_blocked_at_the_small_lock_gets_in) {
    // Long enough inside for the other to give up spinning, so that the mark of a blocked thread meets the unlock at
    // every point, also where it is overwritten.
    roost::seam::small_mutex lock;
    long inside = 0;
    constexpr int rounds = 2'000;
    const auto visits = [&] {
        for (int i = 0; i < rounds; ++i) {
            lock.lock();
            ++inside;
            for (int spin = 0; spin < 40 * (i % 8); ++spin) {
                roost::seam::spin_hint();
            }
            if (i % 64 == 0) {
                roost::seam::yield_thread();
            }
            lock.unlock();
        }
    };
    roost::seam::thread first(visits), second(visits), third(visits);
    first.join();
    second.join();
    third.join();
    EXPECT_EQ(inside, 3L * rounds);
}

TEST(atomic, BASE_17_thread_index_is_unique_among_the_living) {
    const std::uint32_t mine = roost::seam::thread_index();
    EXPECT_EQ(mine, roost::seam::thread_index());
    std::vector<std::uint32_t> seen(8, 0);
    roost::seam::atomic<std::uint32_t> arrived{0};
    std::vector<roost::seam::thread> threads;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        threads.emplace_back([&, i] {
            seen[i] = roost::seam::thread_index();
            arrived.fetch_add(1, mo::acq_rel);
            while (arrived.load(mo::acquire) != seen.size()) {
                roost::seam::yield_thread();
            }
        });
    }
    for (roost::seam::thread& t : threads) {
        t.join();
    }
    std::set<std::uint32_t> distinct(seen.begin(), seen.end());
    EXPECT_EQ(distinct.size(), seen.size());
    EXPECT_EQ(distinct.count(mine), 0U);
    std::uint32_t later = 0;
    roost::seam::thread again([&] { later = roost::seam::thread_index(); });
    again.join();
    EXPECT_EQ(distinct.count(later), 1U) << "an index is used again after its thread ended";
}

struct counter_tag;

struct hop {
    struct promise_type {
        hop get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

hop write_on_both_threads(int* seen_after) {
    roost::seam::thread_value<counter_tag, int>::get() = 1;
    co_await std::suspend_always{};
    *seen_after = roost::seam::thread_value<counter_tag, int>::get();
    roost::seam::thread_value<counter_tag, int>::get() = 2;
}

TEST(atomic, BASE_18_thread_value_follows_the_thread_not_the_coroutine) {
    int seen_after = -1;
    hop h = write_on_both_threads(&seen_after);
    int other_after = -1;
    roost::seam::thread other([&] {
        h.handle.resume();
        other_after = roost::seam::thread_value<counter_tag, int>::get();
    });
    other.join();
    EXPECT_EQ(seen_after, 0);
    EXPECT_EQ(other_after, 2);
    EXPECT_EQ((roost::seam::thread_value<counter_tag, int>::get()), 1);
    h.handle.destroy();
}

TEST(atomic, BASE_20_heavy_barrier_forbids_both_sides_missing_each_other) {
    if (!roost::seam::has_heavy_barrier()) {
        GTEST_SUCCEED() << "this kernel has no membarrier";
        return;
    }
    for (int round = 0; round < 2000; ++round) {
        roost::seam::atomic<int> light_flag{0};
        roost::seam::atomic<int> heavy_flag{0};
        int light_saw = -1;
        int heavy_saw = -1;
        roost::seam::thread light([&] {
            light_flag.store(1, mo::relaxed);
            roost::seam::light_barrier();
            light_saw = heavy_flag.load(mo::relaxed);
        });
        heavy_flag.store(1, mo::relaxed);
        roost::seam::heavy_barrier();
        heavy_saw = light_flag.load(mo::relaxed);
        light.join();
        ASSERT_TRUE(light_saw == 1 || heavy_saw == 1);
    }
}

TEST(atomic, BASE_30_the_same_state_gives_the_same_random_numbers) {
    const std::uint64_t before = roost::seam::swap_random_state(42);
    const std::uint64_t first = roost::seam::random_u64();
    const std::uint64_t second = roost::seam::random_u64();
    EXPECT_NE(first, second);
    const std::uint64_t went_on = roost::seam::swap_random_state(42);
    EXPECT_EQ(roost::seam::random_u64(), first);
    EXPECT_EQ(roost::seam::random_u64(), second);
    EXPECT_EQ(roost::seam::swap_random_state(before), went_on);
}

TEST(atomic, BASE_26_random_numbers_differ) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) {
        seen.insert(roost::seam::random_u64());
    }
    EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
