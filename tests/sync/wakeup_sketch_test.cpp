// What the four sketches of docs/design/wakeups.md do wrong, each shown on one thread, and that the corrected version of
// each design does it right. The sketches live beside the benchmarks that measure their corrected versions.
#include "../../benchmarks/compare/wakeup/intrusive_list.hpp"
#include "../../benchmarks/compare/wakeup/lockfree_queue.hpp"
#include "../../benchmarks/compare/wakeup/mode_word.hpp"
#include "../../benchmarks/compare/wakeup/mutex_deque.hpp"
#include "../../benchmarks/compare/wakeup/sketch/intrusive_list.hpp"
#include "../../benchmarks/compare/wakeup/sketch/lockfree_queue.hpp"
#include "../../benchmarks/compare/wakeup/sketch/mode_word.hpp"
#include "../../benchmarks/compare/wakeup/sketch/mutex_deque.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <utility>

namespace {

using wakeup::waker;

// A waiter as the sketches see it: a waker that stays valid after the waiter is gone and then does nothing.
struct sleeper {
    int wakes = 0;
    bool dropped = false;

    waker wake() {
        return {[](void* self) noexcept {
                    auto& me = *static_cast<sleeper*>(self);
                    if (!me.dropped) ++me.wakes;
                },
                this};
    }
};

bool never() { return false; }

// Stands for the lock-free queue, which is not what goes wrong.
template <class T>
struct plain_queue {
    std::deque<T> items;
    void push(T item) { items.push_back(item); }
    bool pop(T& item) {
        if (items.empty()) return false;
        item = items.front();
        items.pop_front();
        return true;
    }
};

// --- mutex + deque -----------------------------------------------------------------------------------------------------

TEST(wakeup_sketch, mutex_deque_a_dropped_waiter_swallows_the_wake) {
    wakeup::sketch::mutex_deque queue;
    sleeper first, second;
    queue.wait_unless(first.wake(), never);
    queue.wait_unless(second.wake(), never);
    first.dropped = true;  // its entry stays: "safe but wasteful"
    queue.wake_one();      // one permit was released
    EXPECT_EQ(first.wakes, 0);
    EXPECT_EQ(second.wakes, 0) << "the defect is gone: the permit is free and the live waiter was told";
}

// --- mode word, slot and overflow --------------------------------------------------------------------------------------

TEST(wakeup_sketch, mode_word_strands_the_single_waiter) {
    wakeup::sketch::mode_word queue;
    sleeper single, later;
    queue.wait_unless(single.wake(), never);
    queue.wait_unless(later.wake(), never);
    for (int i = 0; i < 3; ++i) queue.wake_one();
    EXPECT_EQ(later.wakes, 1) << "overtook the one who was first";
    EXPECT_EQ(single.wakes, 0) << "the defect is gone: the single waiter was found";
}

TEST(wakeup_sketch, mode_word_recheck_hides_queued_waiters) {
    wakeup::sketch::mode_word queue;
    sleeper registering, second, third;
    int looks = 0;
    // Between registering and looking again, two more waiters arrive and the condition comes true.
    bool const done = queue.wait_unless(registering.wake(), [&] {
        if (++looks == 1) return false;
        queue.wait_unless(second.wake(), never);
        queue.wait_unless(third.wake(), never);
        return true;
    });
    EXPECT_TRUE(done);
    queue.wake_one();
    queue.wake_one();
    EXPECT_EQ(second.wakes + third.wakes, 0) << "the defect is gone: 'empty' was not stored over 'multi'";
}

// --- lock-free queue ---------------------------------------------------------------------------------------------------

using sketched_queue = wakeup::sketch::lockfree_queue<plain_queue<waker>>;

TEST(wakeup_sketch, lockfree_queue_a_cancelled_waiter_swallows_the_wake) {
    sketched_queue queue;
    sleeper first, second;
    queue.wait_unless(first.wake(), never);
    queue.wait_unless(second.wake(), never);
    first.dropped = true;
    queue.wake_one();
    EXPECT_EQ(second.wakes, 0) << "the defect is gone: the wake went on to the live waiter";
}

TEST(wakeup_sketch, lockfree_queue_the_entry_of_a_satisfied_waiter_swallows_the_wake) {
    sketched_queue queue;
    sleeper first, second;
    int looks = 0;
    EXPECT_TRUE(queue.wait_unless(first.wake(), [&] { return ++looks > 1; })) << "satisfied by the second look";
    queue.wait_unless(second.wake(), never);
    queue.wake_one();
    EXPECT_EQ(first.wakes, 1) << "'spurious, that is OK'";
    EXPECT_EQ(second.wakes, 0) << "the defect is gone: the satisfied waiter left no entry";
}

TEST(wakeup_sketch, lockfree_queue_wake_all_wakes_who_comes_back) {
    sketched_queue queue;
    struct again {
        sketched_queue* queue;
        int wakes = 0;
        waker wake() {
            return {[](void* self) noexcept {
                        auto& me = *static_cast<again*>(self);
                        if (++me.wakes < 1000) me.queue->wait_unless(me.wake(), never);
                    },
                    this};
        }
    };
    again a{&queue};
    queue.wait_unless(a.wake(), never);
    queue.wake_all();
    EXPECT_EQ(a.wakes, 1000) << "the defect is gone: one call satisfies one wait";
}

// --- intrusive list ----------------------------------------------------------------------------------------------------

TEST(wakeup_sketch, intrusive_list_wakes_a_dead_node_after_aba) {
    std::function<void()> in_the_window;
    auto hook = [&] {
        if (in_the_window) std::exchange(in_the_window, nullptr)();
    };
    wakeup::sketch::intrusive_list<decltype(hook)> queue(hook);
    sleeper a, b, c;
    wakeup::sketch::intrusive_node node_a, node_b, node_c;
    queue.wait_unless(node_a, a.wake(), never);
    queue.wait_unless(node_b, b.wake(), never);
    queue.wait_unless(node_c, c.wake(), never);
    in_the_window = [&] {  // another thread: wakes everybody, and the first one waits again with the same node
        queue.wake_one();
        queue.wake_one();
        queue.wait_unless(node_a, a.wake(), never);
        queue.wake_one();
    };
    queue.wake_one();  // read head a and next b before, swings head from a to b after
    EXPECT_EQ(a.wakes, 2);
    EXPECT_EQ(b.wakes, 1);
    queue.wake_one();
    EXPECT_EQ(b.wakes, 2) << "the defect is gone: a waiter that was gone is not woken again";
}

TEST(wakeup_sketch, intrusive_list_loses_who_comes_after_it_was_empty) {
    wakeup::sketch::intrusive_list<> queue;
    sleeper first, second;
    wakeup::sketch::intrusive_node node_first, node_second;
    queue.wait_unless(node_first, first.wake(), never);
    queue.wake_one();  // as written, the pop never touches tail: it keeps pointing into the woken waiter
    queue.wait_unless(node_second, second.wake(), never);
    queue.wake_one();
    EXPECT_EQ(second.wakes, 0) << "the defect is gone: tail follows";
    EXPECT_EQ(node_first.next.load(), &node_second) << "and the push wrote into a waiter that had been woken";
}

// --- the corrected versions --------------------------------------------------------------------------------------------

template <class Queue>
class corrected_wakeup : public testing::Test {};

using designs = testing::Types<wakeup::mutex_deque, wakeup::mode_word, wakeup::lockfree_queue<plain_queue<wakeup::ticket*>>,
                               wakeup::intrusive_list>;
TYPED_TEST_SUITE(corrected_wakeup, designs);

TYPED_TEST(corrected_wakeup, a_cancelled_waiter_takes_no_wake) {
    TypeParam queue;
    sleeper first, second;
    typename TypeParam::node node_first, node_second;
    queue.wait_unless(node_first, first.wake(), never);
    queue.wait_unless(node_second, second.wake(), never);
    EXPECT_TRUE(queue.cancel(node_first));
    EXPECT_TRUE(queue.wake_one());
    EXPECT_EQ(first.wakes, 0);
    EXPECT_EQ(second.wakes, 1);
    EXPECT_FALSE(queue.wake_one());
}

TYPED_TEST(corrected_wakeup, cancel_after_the_wake_says_so) {
    TypeParam queue;
    sleeper first;
    typename TypeParam::node node_first;
    queue.wait_unless(node_first, first.wake(), never);
    EXPECT_TRUE(queue.wake_one());
    EXPECT_FALSE(queue.cancel(node_first)) << "the wake is the waiter's to pass on";
}

TYPED_TEST(corrected_wakeup, everybody_is_woken_in_order) {
    TypeParam queue;
    sleeper all[4];
    typename TypeParam::node nodes[4];
    for (int i = 0; i < 4; ++i) queue.wait_unless(nodes[i], all[i].wake(), never);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(all[i].wakes, 0);
        EXPECT_TRUE(queue.wake_one());
        EXPECT_EQ(all[i].wakes, 1);
    }
    EXPECT_FALSE(queue.wake_one());
}

TYPED_TEST(corrected_wakeup, recheck_takes_out_only_itself) {
    TypeParam queue;
    sleeper registering, second;
    typename TypeParam::node node_registering, node_second;
    queue.wait_unless(node_second, second.wake(), never);
    int looks = 0;
    EXPECT_TRUE(queue.wait_unless(node_registering, registering.wake(), [&] { return ++looks > 1; }));
    EXPECT_TRUE(queue.wake_one());
    EXPECT_EQ(second.wakes, 1);
    EXPECT_EQ(registering.wakes, 0);
    EXPECT_FALSE(queue.wake_one());
}

TYPED_TEST(corrected_wakeup, wake_all_does_not_reach_who_comes_back) {
    TypeParam queue;
    struct again {
        TypeParam* queue = nullptr;
        typename TypeParam::node node{};
        int wakes = 0;
        waker wake() {
            return {[](void* self) noexcept {
                        auto& me = *static_cast<again*>(self);
                        if (++me.wakes < 10) me.queue->wait_unless(me.node, me.wake(), never);
                    },
                    this};
        }
    };
    again a, b;
    a.queue = b.queue = &queue;
    queue.wait_unless(a.node, a.wake(), never);
    queue.wait_unless(b.node, b.wake(), never);
    EXPECT_EQ(queue.wake_all(), 2U);
    EXPECT_EQ(a.wakes, 1);
    EXPECT_EQ(b.wakes, 1);
    EXPECT_EQ(queue.wake_all(), 2U);
    EXPECT_TRUE(queue.cancel(a.node));
    EXPECT_TRUE(queue.cancel(b.node));
}

}  // namespace
