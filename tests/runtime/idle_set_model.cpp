#include <roost/runtime/detail/idle_set.hpp>
#include <roost/testing/explore_gtest.hpp>

// Park against post: a worker that finds nothing sleeps, a poster wakes it when nobody searches. With either barrier.

namespace {

namespace rt = roost::testing;
using namespace roost;
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

MODEL(idle_set, RUN_14_park_or_post) {
    if (has_heavy_barrier()) {
        park_or_post(true, false);
    }
}
MODEL(idle_set, RUN_14_park_or_post_strict) { park_or_post(false, true); }
MODEL(idle_set, RUN_14_park_or_post_from_outside) {
    if (has_heavy_barrier()) {
        park_or_post(true, true);
    }
}

// Two posts, one of which may see a searcher and wake nobody.
MODEL(idle_set, RUN_14_two_posts) {
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

// Chosen by a waker while withdrawing: the signal of the old sleep must not end the next one.
MODEL(idle_set, RUN_14_withdraw_or_wake) {
    idle_set idle(false);
    idle_set::sleeper me;
    idle.announce(me, false);
    thread waker([&] { idle.wake_one(); });
    idle.withdraw(me);
    const auto left = idle.end_search();
    rt::check(left.searching == 0 && left.parked == 0, "counted once, whoever took it off the list");
    waker.join();
    idle.announce(me, false);
    rt::check(!idle.sleep(me, time_point::min()), "nobody has woken this sleep");
    idle.withdraw(me);
}

}  // namespace
