#include <roost/runtime/detail/idle_set.hpp>
#include <roost/testing/explore_gtest.hpp>

// Park against post: a worker that finds nothing sleeps, a poster wakes it when no worker searches. With either barrier.

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using detail::idle_set;

// What a queue looks like to the protocol: something that is seen with relaxed loads.
struct flag {
    atomic<int> items{0};
    [[nodiscard]] bool any() const { return items.load(mo::relaxed) != 0; }
};

// A worker that ends when it has found `wanted` items.
void work_until(idle_set& idle, idle_set::sleeper& me, flag& queue, int wanted) {
    bool searching = idle.try_begin_search(1);
    while (wanted > 0) {
        if (searching && queue.any()) {
            queue.items.fetch_sub(1, mo::relaxed);
            --wanted;
            idle.end_search();
            searching = false;
            continue;
        }
        idle.announce(me, searching);
        if (queue.any()) {
            idle.withdraw(me);
        } else {
            idle.sleep(me);
        }
        searching = true;
    }
    if (searching) {
        idle.end_search();
    }
}

void park_or_post(bool asymmetric, bool strict) {
    idle_set idle(asymmetric);
    idle_set::sleeper me;
    flag queue;
    thread worker([&] { work_until(idle, me, queue, 1); });
    queue.items.fetch_add(1, mo::relaxed);
    if (strict ? idle.needs_waking_strict() : idle.needs_waking()) {
        idle.wake_one();
    }
    worker.join();
}

MODEL_COMPLETE(idle_set, RUN_14_park_or_post) {
    if (has_heavy_barrier()) {
        park_or_post(true, false);
    }
}
MODEL_COMPLETE(idle_set, RUN_14_park_or_post_strict) { park_or_post(false, true); }
// A worker's own post, where the kernel has no membarrier.
MODEL_COMPLETE(idle_set, RUN_14_park_or_post_without_barriers) { park_or_post(false, false); }
MODEL_COMPLETE(idle_set, RUN_14_park_or_post_from_outside) {
    if (has_heavy_barrier()) {
        park_or_post(true, true);
    }
}

void post(idle_set& idle, flag& queue) {
    queue.items.fetch_add(1, mo::relaxed);
    if (idle.needs_waking()) {
        idle.wake_one();
    }
}
// Virtual time stands still, so the first barrier makes a set strict.
void look_in_vain(idle_set& idle, idle_set::sleeper& me) {
    idle.announce(me, false);
    idle.withdraw(me);
    idle.end_search();
}

// A post races with a worker that makes the set strict, and then goes to sleep without a barrier.
MODEL_COMPLETE(idle_set, RUN_14_strict_after_a_barrier) {
    if (!has_heavy_barrier()) {
        return;
    }
    idle_set idle(true);
    idle_set::sleeper me;
    flag queue;
    thread worker([&] {
        look_in_vain(idle, me);
        work_until(idle, me, queue, 1);
    });
    post(idle, queue);
    worker.join();
}
// The first post ends the strictness while a worker goes to sleep; the second does not pay for itself.
MODEL_COMPLETE(idle_set, RUN_14_light_after_calm_posts) {
    if (!has_heavy_barrier()) {
        return;
    }
    idle_set idle(true, 0, 1);
    idle_set::sleeper me;
    flag first;
    flag second;
    look_in_vain(idle, me);
    thread worker([&] { work_until(idle, me, second, 1); });
    post(idle, first);
    post(idle, second);
    worker.join();
}

// The last worker to sleep passes no barrier. Each of the two workers waits for an item of the other one.
MODEL_COMPLETE(idle_set, RUN_14_the_last_to_sleep) {
    if (!has_heavy_barrier()) {
        return;
    }
    idle_set idle(true, 2);
    idle_set::sleeper first;
    idle_set::sleeper second;
    flag for_first;
    flag for_second;
    thread worker([&] {
        work_until(idle, first, for_first, 1);
        post(idle, for_second);
    });
    post(idle, for_first);
    work_until(idle, second, for_second, 1);
    worker.join();
}

// Two posts, one of which may see a searcher and wake none.
MODEL_COMPLETE(idle_set, RUN_14_two_posts) {
    idle_set idle(false);
    idle_set::sleeper me;
    flag queue;
    thread worker([&] { work_until(idle, me, queue, 2); });
    for (int i = 0; i < 2; ++i) {
        queue.items.fetch_add(1, mo::relaxed);
        if (idle.needs_waking_strict()) {
            idle.wake_one();
        }
    }
    worker.join();
}

// The last searcher found something and stops: a post that saw it woke none, so it has to look for more itself.
MODEL_COMPLETE(idle_set, RUN_14_last_searcher_or_post) {
    idle_set idle(false);
    idle_set::sleeper asleep;
    flag queue;
    rt::check(idle.try_begin_search(1), "no worker searches");
    idle.announce(asleep, false);
    thread poster([&] {
        queue.items.fetch_add(1, mo::relaxed);
        if (idle.needs_waking_strict()) {
            idle.wake_one();
        }
    });
    const auto left = idle.end_search();
    if (left.searching == 0 && left.parked != 0 && queue.any()) {
        idle.wake_one();
    }
    poster.join();
    rt::check(!idle.is_any_parked(), "a worker was woken for the item");
}

// All workers that sleep when the end comes.
MODEL_COMPLETE(idle_set, RUN_14_wake_all_or_sleep) {
    idle_set idle(false);
    idle_set::sleeper me;
    atomic<bool> over{false};
    thread worker([&] {
        while (!over.load(mo::relaxed)) {
            idle.announce(me, false);
            if (over.load(mo::relaxed)) {
                idle.withdraw(me);
            } else {
                idle.sleep(me);
            }
            idle.end_search();
        }
    });
    over.store(true, mo::relaxed);
    idle.wake_all();
    worker.join();
}

// Chosen by a waker while withdrawing: the signal of the old sleep must not end the next one.
MODEL_COMPLETE(idle_set, RUN_14_withdraw_or_wake) {
    idle_set idle(false);
    idle_set::sleeper me;
    idle.announce(me, false);
    thread waker([&] { idle.wake_one(); });
    idle.withdraw(me);
    const auto left = idle.end_search();
    rt::check(left.searching == 0 && left.parked == 0, "counted once, whichever thread took it off the list");
    waker.join();
    idle.announce(me, false);
    rt::check(!idle.sleep(me, time_point::min()), "nothing has woken this sleep");
    idle.withdraw(me);
}

// Two posters saw that no worker searches: the second finds the searcher that the first one woke, and lets the others sleep.
MODEL_COMPLETE(idle_set, RUN_14_two_wakers_wake_one) {
    idle_set idle(false);
    idle_set::sleeper first;
    idle_set::sleeper second;
    idle.announce(first, false);
    rt::check(idle.announce(second, false) == 2, "both are listed");
    bool other = false;
    thread waker([&] { other = idle.wake_one(); });
    const bool mine = idle.wake_one();
    waker.join();
    rt::check(mine != other, "one of them has woken a worker");
    rt::check(idle.is_any_parked(), "and only one");
    rt::check(!idle.try_begin_search(1) && idle.try_begin_search(2), "who was woken counts as a searcher");
    idle.end_search();
    idle.withdraw(first);
    idle.withdraw(second);
}

// The first to go to sleep withdraws: the list is newest first, so it is not at its head.
MODEL_COMPLETE(idle_set, RUN_14_the_oldest_sleeper_withdraws) {
    idle_set idle(false);
    idle_set::sleeper oldest;
    idle_set::sleeper middle;
    idle_set::sleeper newest;
    idle.announce(oldest, false);
    idle.announce(middle, false);
    idle.announce(newest, false);
    idle.withdraw(oldest);
    const auto left = idle.end_search();
    rt::check(left.searching == 0 && left.parked == 2, "the others still sleep");
    rt::check(idle.wake_one() && idle.sleep(newest, time_point::min()), "the newest is woken first");
    idle.end_search();
    rt::check(idle.wake_one() && idle.sleep(middle, time_point::min()), "then the one before it");
    idle.end_search();
    rt::check(!idle.wake_one(), "no worker sleeps any more");
}

}  // namespace
