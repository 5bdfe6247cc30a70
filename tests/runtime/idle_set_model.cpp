#include <roost/runtime/detail/idle_set.hpp>
#include <roost/testing/explore_gtest.hpp>

// Park against post: a worker that finds nothing sleeps, a poster wakes it when no worker searches. With either barrier.

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using detail::idle_set;

#define BARRIER_MODEL(name)                   \
    void name();                              \
    MODEL_COMPLETE(idle_set, RUN_14_##name) { \
        if (has_heavy_barrier()) {            \
            name();                           \
        }                                     \
    }                                         \
    void name()

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

BARRIER_MODEL(park_or_light_post) { park_or_post(true, false); }
MODEL_COMPLETE(idle_set, RUN_14_park_or_post_strict) { park_or_post(false, true); }
// A worker's own post, where the kernel has no membarrier.
MODEL_COMPLETE(idle_set, RUN_14_park_or_post_without_barriers) { park_or_post(false, false); }
BARRIER_MODEL(park_or_post_from_outside) { park_or_post(true, true); }

void post(idle_set& idle, flag& queue) {
    queue.items.fetch_add(1, mo::relaxed);
    if (idle.needs_waking()) {
        idle.wake_one();
    }
}
// Two barriers at the same virtual time: the second makes the set strict, and is trusted when it returns.
void look_in_vain(idle_set& idle, idle_set::sleeper& me) {
    idle.announce(me, false);
    idle.withdraw(me);
    idle.end_search();
}
void make_strict(idle_set& idle, idle_set::sleeper& me) {
    look_in_vain(idle, me);
    look_in_vain(idle, me);
}
void sleep_unless(idle_set& idle, idle_set::sleeper& me, flag& queue) {
    idle.announce(me, false);
    if (queue.any()) {
        idle.withdraw(me);
    } else {
        idle.sleep(me);
    }
}
// What the last searcher does when it has found work. others_run: there are workers that are neither it nor listed.
void stop_searching(idle_set& idle, flag& queue, bool others_run = true) {
    const auto left = idle.end_search();
    if (left.searching == 0 && left.parked != 0) {
        if (others_run && !left.is_ordered) {
            idle.order_before_look();
        }
        if (queue.any()) {
            idle.wake_one();
        }
    }
}

#if defined(ROOST_SEAM_MODEL)  // they need the virtual clock
bool is_trusted(idle_set& idle) {
    rt::check(idle.try_begin_search(1), "no worker searches");
    return idle.end_search().is_ordered;
}
MODEL_COMPLETE(idle_set, RUN_14_strict_after_two_barriers) {
    idle_set idle(true, 0, 2);
    idle_set::sleeper me;
    idle_set::sleeper other;
    look_in_vain(idle, me);
    rt::check(!is_trusted(idle), "one barrier");
    look_in_vain(idle, me);
    rt::check(is_trusted(idle), "two barriers soon after each other");
    rt::check(!idle.is_any_parked() && !idle.needs_waking() && idle.while_still([](std::uint32_t n) { return n == 0; }),
              "no worker sleeps");
    rt::check(idle.announce(me, false) == 1 && idle.announce(other, false) == 2, "the mark is no sleeper");
    idle.withdraw(me);
    idle.end_search();
    rt::check(idle.needs_waking() && is_trusted(idle), "the first post");
    rt::check(idle.needs_waking() && !is_trusted(idle), "the second is calm");
    idle.withdraw(other);
    idle.end_search();
    look_in_vain(idle, me);
    rt::check(is_trusted(idle), "strict again");
}
// Two workers need a barrier at the same time; then a sleep races with a post.
MODEL_COMPLETE(idle_set, RUN_14_two_barriers_at_once) {
    idle_set idle(true);
    idle_set::sleeper me;
    flag queue;
    look_in_vain(idle, me);
    thread other([&] { idle.order_before_look(); });
    idle.order_before_look();
    other.join();
    rt::check(is_trusted(idle), "one of them has made it strict");
    rt::check(idle.announce(me, false) == 1 && idle.needs_waking(), "the mark is no sleeper");
    idle.withdraw(me);
    idle.end_search();
    thread worker([&] { sleep_unless(idle, me, queue); });
    post(idle, queue);
    worker.join();
}
#endif

// A post races with a sleep without a barrier.
BARRIER_MODEL(trusted_sleep_or_post) {
    idle_set idle(true);
    idle_set::sleeper me;
    flag queue;
    make_strict(idle, me);
    thread worker([&] { work_until(idle, me, queue, 1); });
    post(idle, queue);
    worker.join();
}
// The first post ends the strict time while a worker goes to sleep, trusting it. The second does not pay for itself.
BARRIER_MODEL(trusted_sleep_or_calm_post) {
    idle_set idle(true, 0, 1);
    idle_set::sleeper me;
    flag first;
    flag second;
    make_strict(idle, me);
    thread worker([&] { sleep_unless(idle, me, second); });
    post(idle, first);
    post(idle, second);
    worker.join();
}
BARRIER_MODEL(sleep_before_it_is_trusted) {
    idle_set idle(true);
    idle_set::sleeper one;
    idle_set::sleeper two;
    flag queue;
    look_in_vain(idle, one);
    thread changer([&] { idle.order_before_look(); });
    thread worker([&] { sleep_unless(idle, two, queue); });
    post(idle, queue);
    changer.join();
    worker.join();
}
BARRIER_MODEL(calm_post_before_it_is_trusted) {
    idle_set idle(true, 0, 1);
    idle_set::sleeper me;
    flag first;
    flag second;
    look_in_vain(idle, me);
    thread worker([&] {
        idle.order_before_look();
        sleep_unless(idle, me, second);
    });
    post(idle, first);
    post(idle, second);
    worker.join();
}
BARRIER_MODEL(strict_twice) {
    idle_set idle(true, 0, 1);
    idle_set::sleeper me;
    flag first;
    flag second;
    make_strict(idle, me);
    thread worker([&] {
        look_in_vain(idle, me);
        sleep_unless(idle, me, second);
    });
    post(idle, first);
    post(idle, second);
    worker.join();
}

// The last searcher stops, in a set that is light, becomes strict, is trusted, or becomes light again.
void last_searcher(idle_set& idle, bool strict) {
    idle_set::sleeper asleep;
    flag queue;
    if (strict) {
        make_strict(idle, asleep);
    }
    rt::check(idle.try_begin_search(1), "no worker searches");
    idle.announce(asleep, false);
    thread poster([&] { post(idle, queue); });
    stop_searching(idle, queue);
    poster.join();
    rt::check(!idle.is_any_parked(), "a worker was woken for the item");
}
BARRIER_MODEL(last_searcher_or_light_post) {
    idle_set idle(true, 1);
    last_searcher(idle, false);
}
BARRIER_MODEL(last_searcher_or_post_becomes_strict) {
    idle_set idle(true);
    last_searcher(idle, false);
}
BARRIER_MODEL(last_searcher_or_post_trusted) {
    idle_set idle(true);
    last_searcher(idle, true);
}
BARRIER_MODEL(last_searcher_or_post_calm) {
    idle_set idle(true, 0, 1);
    last_searcher(idle, true);
}
BARRIER_MODEL(last_searcher_before_it_is_trusted) {
    idle_set idle(true);
    idle_set::sleeper asleep;
    flag queue;
    rt::check(idle.try_begin_search(1), "no worker searches");
    idle.announce(asleep, false);
    thread poster([&] { post(idle, queue); });
    thread changer([&] { idle.order_before_look(); });
    stop_searching(idle, queue);
    poster.join();
    changer.join();
    rt::check(!idle.is_any_parked(), "a worker was woken for the item");
}

// A post from outside saw a searcher. Another thread changes the word before the searcher stops, which still has to see the item.
template <class Between>
void post_before_a_change(idle_set& idle, idle_set::sleeper& asleep, Between between) {
    flag queue;
    idle.announce(asleep, false);
    rt::check(idle.try_begin_search(1), "no worker searches");
    thread poster([&] {
        queue.items.fetch_add(1, mo::relaxed);
        if (idle.needs_waking_strict()) {
            idle.wake_one();
        }
    });
    thread changer([&] { between(queue); });
    stop_searching(idle, queue, false);
    poster.join();
    changer.join();
    rt::check(!idle.is_any_parked(), "a worker was woken for the item");
}
BARRIER_MODEL(post_before_a_withdrawal) {
    idle_set idle(false);
    idle_set::sleeper a;
    idle_set::sleeper b;
    idle.announce(b, false);
    post_before_a_change(idle, a, [&](flag& queue) {
        idle.withdraw(b);
        stop_searching(idle, queue);
    });
}
BARRIER_MODEL(post_before_it_becomes_strict) {
    idle_set idle(true);
    idle_set::sleeper asleep;
    post_before_a_change(idle, asleep, [&](flag&) { idle.order_before_look(); });
}
BARRIER_MODEL(post_before_it_becomes_light) {
    idle_set idle(true, 0, 1);
    idle_set::sleeper asleep;
    flag other;
    make_strict(idle, asleep);
    post_before_a_change(idle, asleep, [&](flag&) { post(idle, other); });
}
// As above, with the end of the runtime: the worker that it wakes has to find the item, or the last searcher.
BARRIER_MODEL(post_before_wake_all) {
    idle_set idle(false);
    idle_set::sleeper me;
    flag queue;
    rt::check(idle.try_begin_search(1), "no worker searches");
    idle.announce(me, false);
    thread poster([&] {
        queue.items.fetch_add(1, mo::relaxed);
        if (idle.needs_waking_strict()) {
            idle.wake_one();
        }
    });
    idle.wake_all();
    stop_searching(idle, queue, false);
    idle.announce(me, true);
    if (!queue.any()) {
        idle.sleep(me);
    }
    poster.join();
}

// The last worker to sleep passes no barrier. Each of the two workers waits for an item of the other one.
BARRIER_MODEL(the_last_to_sleep) {
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
