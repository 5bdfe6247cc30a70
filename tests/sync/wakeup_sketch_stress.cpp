// The corrected designs of docs/design/wakeups.md under two threads that register, wake and cancel: every wake that was
// reported reached exactly one waiter, and a cancelled waiter is never called.
#include "../../benchmarks/compare/wakeup/intrusive_list.hpp"
#include "../../benchmarks/compare/wakeup/lockfree_queue.hpp"
#include "../../benchmarks/compare/wakeup/mode_word.hpp"
#include "../../benchmarks/compare/wakeup/mutex_deque.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <thread>

namespace {

template <class T>
struct locked_queue {
    std::mutex lock;
    std::deque<T> items;
    void push(T item) {
        std::lock_guard hold(lock);
        items.push_back(item);
    }
    bool pop(T& item) {
        std::lock_guard hold(lock);
        if (items.empty()) return false;
        item = items.front();
        items.pop_front();
        return true;
    }
};

struct tally {
    long wakes_given = 0;
    long wakes_received = 0;
    long cancelled_but_called = 0;
};

template <class Queue>
void one_thread(Queue& queue, unsigned rounds, unsigned seed, tally& mine) {
    for (unsigned i = 0; i < rounds; ++i) {
        typename Queue::node node;
        std::atomic<int> calls{0};
        queue.wait_unless(node, {[](void* target) noexcept { ++*static_cast<std::atomic<int>*>(target); }, &calls},
                          [] { return false; });
        if ((i + seed) % 3 != 0) mine.wakes_given += queue.wake_one() ? 1 : 0;
        if (queue.cancel(node)) {
            mine.cancelled_but_called += calls.load();
        } else {
            while (calls.load() == 0) std::this_thread::yield();
            mine.wakes_received += calls.load();
        }
    }
}

template <class Queue>
class corrected_wakeup_stress : public testing::Test {};

using designs = testing::Types<wakeup::mutex_deque, wakeup::mode_word, wakeup::lockfree_queue<locked_queue<wakeup::ticket*>>,
                               wakeup::intrusive_list>;
TYPED_TEST_SUITE(corrected_wakeup_stress, designs);

TYPED_TEST(corrected_wakeup_stress, wakes_are_conserved_while_waiters_leave) {
    TypeParam queue;
    constexpr unsigned rounds = 100'000;
    tally first, second;
    std::thread other([&] { one_thread(queue, rounds, 1, second); });
    one_thread(queue, rounds, 0, first);
    other.join();
    EXPECT_EQ(first.wakes_given + second.wakes_given, first.wakes_received + second.wakes_received);
    EXPECT_EQ(first.cancelled_but_called + second.cancelled_but_called, 0);
    EXPECT_GT(first.wakes_received + second.wakes_received, 0);
    EXPECT_FALSE(queue.wake_one());
}

}  // namespace
