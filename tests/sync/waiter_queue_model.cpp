// Every interleaving of waiting, waking, cancelling and deadlines in one queue (SYNC-3 .. SYNC-16).

#include <roost/sync/waiter_queue.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::waiter_queue;
using roost::ext::claim;
using roost::seam::atomic;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;
namespace mo = roost::seam::mo;

constexpr auto never = [] { return false; };

fire wait_until_set(waiter_queue& queue, atomic<int>& ready, plain<int>& resumed) {
    while (ready.load(mo::seq_cst) == 0) {
        co_await queue.wait_unless([&ready] { return ready.load(mo::seq_cst) != 0; });
    }
    resumed.set(resumed.get() + 1);
}

// The condition becomes true and the wake comes at any moment of the registration: the coroutine always gets through.
MODEL_COMPLETE(waiter_queue_model, lost_wake) {
    waiter_queue queue;
    atomic<int> ready{0};
    plain<int> resumed{0};
    thread waker([&] {
        ready.store(1, mo::seq_cst);
        queue.wake_one();
    });
    wait_until_set(queue, ready, resumed);
    waker.join();
    check(resumed.get() == 1, "SYNC-16: the coroutine is resumed, once");
    check(queue.size_approx() == 0, "nobody is left behind");
}

// The same with a blocked thread: a lost wake is a deadlock.
MODEL_COMPLETE(waiter_queue_model, lost_wake_of_a_thread) {
    waiter_queue queue;
    atomic<int> ready{0};
    thread waker([&] {
        ready.store(1, mo::seq_cst);
        queue.wake_one();
    });
    while (ready.load(mo::seq_cst) == 0) {
        queue.wait_blocking([&] { return ready.load(mo::seq_cst) != 0; });
    }
    waker.join();
}

// What the waker wrote under the queue's lock and before is seen by the woken.
MODEL_COMPLETE(waiter_queue_model, wake_carries_writes) {
    waiter_queue queue;
    plain<int> data{0};
    atomic<int> ready{0};
    thread waker([&] {
        data.set(42);
        ready.store(1, mo::seq_cst);
        queue.wake_all();
    });
    queue.wait_blocking([&] { return ready.load(mo::seq_cst) != 0; });
    check(data.get() == 42, "the waker's writes are visible");
    waker.join();
}

// Two wakers, one waiter: it is resumed once, and exactly one of them says so.
MODEL_COMPLETE(waiter_queue_model, double_wake) {
    waiter_queue queue;
    plain<int> resumed{0};
    atomic<int> counted{0};
    held_operation waiting(queue.wait_unless(never), resumed);
    const auto wake = [&] { counted.fetch_add(queue.wake_one() ? 1 : 0, mo::relaxed); };
    thread other(wake);
    wake();
    other.join();
    check(resumed.get() == 1 && counted.load(mo::relaxed) == 1, "SYNC-4: one waiter is woken once");
}

// Wake against cancel, with a second waiter in line: the wake reaches one of them, and none runs after a cancel that succeeded.
MODEL_COMPLETE(waiter_queue_model, wake_vs_cancel) {
    waiter_queue queue;
    plain<int> first{0};
    plain<int> second{0};
    held_operation one(queue.wait_unless(never), first);
    held_operation two(queue.wait_unless(never), second);
    thread waker([&] { check(queue.wake_one(), "somebody is there"); });
    const bool cancelled = one.operation().try_cancel();
    waker.join();
    check(first.get() == (cancelled ? 0 : 1), "SYNC-10: cancelled or resumed, not both and not neither");
    check(second.get() == (cancelled ? 1 : 0), "SYNC-8: the wake is not swallowed by a cancelled waiter");
    check(queue.size_approx() == (cancelled ? 0U : 1U), "");
    if (!cancelled) {
        queue.wake_one();
    }
}

// Two are to be woken while the first of three leaves: two of them are, in order.
MODEL_COMPLETE(waiter_queue_model, wake_n_vs_cancel) {
    waiter_queue queue;
    plain<int> ran[3];
    held_operation one(queue.wait_unless(never), ran[0]);
    held_operation two(queue.wait_unless(never), ran[1]);
    held_operation three(queue.wait_unless(never), ran[2]);
    thread waker([&] { check(queue.wake_n(2) == 2, "SYNC-4: two are there whoever leaves"); });
    const bool cancelled = one.operation().try_cancel();
    waker.join();
    check(ran[0].get() == (cancelled ? 0 : 1) && ran[1].get() == 1, "SYNC-4: the longest first");
    check(ran[2].get() == (cancelled ? 1 : 0), "SYNC-8: the wake is not swallowed by a cancelled waiter");
    queue.wake_all();
}

// Wake, cancel and a deadline on one waiter, from two sides so that every interleaving can be tried.
MODEL_COMPLETE(waiter_queue_model, cancel_or_deadline_vs_wake) {
    waiter_queue queue;
    plain<int> resumed{0};
    held_operation coroutine(queue.wait_unless(never), resumed);
    int claims = 0;
    thread other([&] {
        claims += coroutine.operation().try_cancel(claim::expired) ? 1 : 0;
        claims += coroutine.operation().try_cancel() ? 1 : 0;
    });
    const bool woken = queue.wake_one();
    other.join();
    check(claims + (woken ? 1 : 0) == 1, "SYNC-10: a wait is claimed exactly once");
    check(resumed.get() == (woken ? 1 : 0), "SYNC-10: resumed by the wake or not at all");
}

// The same with a thread each: exactly one of the three gets it.
MODEL_COMPLETE(waiter_queue_model, cancel_vs_wake_vs_deadline) {
    waiter_queue queue;
    plain<int> resumed{0};
    held_operation coroutine(queue.wait_unless(never), resumed);
    atomic<int> claims{0};
    thread canceller([&] { claims.fetch_add(coroutine.operation().try_cancel() ? 1 : 0, mo::relaxed); });
    thread timer([&] { claims.fetch_add(coroutine.operation().try_cancel(claim::expired) ? 1 : 0, mo::relaxed); });
    const bool woken = queue.wake_one();
    canceller.join();
    timer.join();
    check(claims.load(mo::relaxed) + (woken ? 1 : 0) == 1, "SYNC-10: a wait is claimed exactly once");
    check(resumed.get() == (woken ? 1 : 0), "SYNC-10: resumed by the wake or not at all");
}

// wake_all against a waiter that registers meanwhile: one wake per wait.
MODEL_COMPLETE(waiter_queue_model, wake_all_vs_register) {
    waiter_queue queue;
    plain<int> first{0};
    plain<int> late{0};
    held_operation one(queue.wait_unless(never), first);
    thread waker([&] { queue.wake_all(); });
    held_operation two(queue.wait_unless(never), late);
    waker.join();
    check(first.get() == 1, "SYNC-5: whoever was queued is woken");
    check(late.get() + static_cast<int>(queue.size_approx()) == 1, "a later one is woken or still queued");
    queue.wake_all();
}

fire wait_twice(waiter_queue& queue, plain<int>& waited) {
    for (int i = 0; i < 2; ++i) {
        co_await queue.wait_unless(never);
        waited.set(waited.get() + 1);
    }
}

// One of the woken waits again at once, inside the call, while another thread wakes or registers: one call, one wait.
MODEL_COMPLETE(waiter_queue_model, wake_all_vs_one_that_waits_again) {
    waiter_queue queue;
    plain<int> again{0};
    plain<int> other{0};
    wait_twice(queue, again);
    held_operation two(queue.wait_unless(never), other);
    thread waker([&] {
        queue.wake_all();
        check(again.get() == 1 && other.get() == 1, "SYNC-5: one wake_all never satisfies two consecutive waits");
    });
    plain<int> late{0};
    held_operation three(queue.wait_unless(never), late);
    waker.join();
    check(late.get() + static_cast<int>(queue.size_approx()) == 2,
          "SYNC-5: it is queued again, a later one is or was woken");
    queue.wake_all();
    check(again.get() == 2 && late.get() == 1 && queue.size_approx() == 0, "SYNC-5: the next one reaches everybody");
}

// One registration finds its condition true while another is queued: it hides no waiter.
MODEL_COMPLETE(waiter_queue_model, recheck_vs_register) {
    waiter_queue queue;
    plain<int> first{0};
    plain<int> second{0};
    held_operation one(queue.wait_unless(never), first);
    thread other([&] { queue.wait_blocking([] { return true; }); });
    held_operation two(queue.wait_unless(never), second);
    other.join();
    check(queue.size_approx() == 2, "SYNC-16: both are there");
    check(queue.wake_one() && first.get() == 1 && second.get() == 0, "SYNC-3");
    check(queue.wake_one() && second.get() == 1, "SYNC-16: a recheck that succeeds hides nobody");
}

// wake_all against cancel: a waiter taken by the wake runs, although the walk has not reached it yet.
MODEL_COMPLETE(waiter_queue_model, wake_all_vs_cancel) {
    waiter_queue queue;
    plain<int> first{0};
    plain<int> second{0};
    held_operation one(queue.wait_unless(never), first);
    held_operation two(queue.wait_unless(never), second);
    thread waker([&] { queue.wake_all(); });
    const bool cancelled = two.operation().try_cancel();
    waker.join();
    check(first.get() == 1, "");
    check(second.get() == (cancelled ? 0 : 1), "SYNC-10: the generation decides");
    plain<int> third{0};
    held_operation later(queue.wait_unless(never), third);
    check(later.operation().try_cancel(), "SYNC-10: whoever queued up afterwards is not of that generation");
}

// A thread and a coroutine in one line; two wakes reach both.
MODEL_COMPLETE(waiter_queue_model, thread_and_coroutine) {
    waiter_queue queue;
    plain<int> resumed{0};
    held_operation coroutine(queue.wait_unless(never), resumed);
    atomic<int> ready{0};
    thread sleeper([&] { queue.wait_blocking([&] { return ready.load(mo::seq_cst) != 0; }); });
    check(queue.wake_one(), "the coroutine was first");
    check(resumed.get() == 1, "SYNC-14: first in, first out, whatever waits");
    ready.store(1, mo::seq_cst);
    queue.wake_one();
    sleeper.join();
}

// The woken coroutine's owner destroys the queue while the waker is still on its way out.
MODEL_COMPLETE(waiter_queue_model, destroyed_by_the_woken) {
    auto* queue = new (roost::seam::allocate(sizeof(waiter_queue))) waiter_queue;
    thread waker([queue] {
        while (!queue->wake_one()) {
            roost::seam::yield_thread();
        }
    });
    queue->wait_blocking(never);
    queue->~waiter_queue();
    roost::seam::deallocate(queue, sizeof(waiter_queue));
    waker.join();
}

// Each of these breaks one rule of the real code on purpose; the models above must be able to see it.
TEST(waiter_queue_model, planted_relaxed_flag_loses_the_wake) {
    EXPECT_FOUND(roost::testing::verdict::deadlock, {.memory = roost::testing::memory::weak}, [] {
        waiter_queue queue;
        atomic<int> ready{0};
        thread waker([&] {
            ready.store(1, mo::release);  // not seq_cst: may pass the look at the queue
            queue.wake_one();
        });
        while (ready.load(mo::seq_cst) == 0) {
            queue.wait_blocking([&] { return ready.load(mo::seq_cst) != 0; });
        }
        waker.join();
    });
}

TEST(waiter_queue_model, planted_check_before_registration_loses_the_wake) {
    EXPECT_FOUND(roost::testing::verdict::deadlock, {}, [] {
        waiter_queue queue;
        atomic<int> ready{0};
        thread waker([&] {
            ready.store(1, mo::seq_cst);
            queue.wake_one();
        });
        if (ready.load(mo::seq_cst) == 0) {
            queue.wait_blocking(never);  // the condition is not evaluated again inside
        }
        waker.join();
    });
}

}  // namespace
