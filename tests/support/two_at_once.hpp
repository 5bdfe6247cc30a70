#pragma once

#include <roost/base/atomic.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace testing_support {

// Two threads that meet at the start of every round, by spinning: a round costs little more than the race itself.
class two_at_once {
public:
    template <class Mine, class Theirs, class After>
    void run(long count, Mine mine, Theirs theirs, After after) {
        std::thread other([&] {
            for (long i = 1; i <= count; ++i) {
                ready_.store(i, std::memory_order_release);
                meet(start_, i);
                dither(i / 7);
                theirs();
                end_.store(i, std::memory_order_release);
            }
        });
        for (long i = 1; i <= count; ++i) {
            prepare_(i);
            meet(ready_, i);
            start_.store(i, std::memory_order_release);
            dither(i);
            mine();
            meet(end_, i);
            after();
        }
        other.join();
    }
    explicit two_at_once(std::function<void(long)> prepare) : prepare_(std::move(prepare)) {}

private:
    static void meet(const std::atomic<long>& word, long round) {
        for (int spin = 0; word.load(std::memory_order_acquire) < round; ++spin) {
            if (spin > 100) {
                std::this_thread::yield();
            }
        }
    }
    // Shifts one side against the other by a few hundred nanoseconds; now and then lets it go first even on one core.
    static void dither(long i) {
        if (i % 5 == 0) {
            std::this_thread::yield();
        }
        for (long k = i % 16; k > 0; --k) {
            roost::seam::spin_hint();
        }
    }
    std::function<void(long)> prepare_;
    std::atomic<long> ready_{0};
    std::atomic<long> start_{0};
    std::atomic<long> end_{0};
};

}  // namespace testing_support
