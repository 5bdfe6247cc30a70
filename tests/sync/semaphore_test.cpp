#include <roost/sync/semaphore.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using roost::semaphore;
using sync_testing::fire;
using sync_testing::hand_executor;
using sync_testing::hosted;
using sync_testing::owned;

static_assert(sizeof(semaphore) <= 40);
static_assert(!std::is_move_constructible_v<semaphore> && !std::is_aggregate_v<semaphore::permit>);

// Keeps what it gets until the test takes it out of the vector.
fire acquire_into(semaphore& s, std::uint32_t n, std::vector<semaphore::permit>& got) {
    auto permit = co_await s.acquire(n);
    got.push_back(std::move(permit));
}

TEST(semaphore, SYNC_31_permits_are_taken_and_given_back) {
    semaphore s(3, "slots");
    EXPECT_EQ(s.available(), 3U);
    {
        auto two = s.try_acquire(2);
        EXPECT_TRUE(two);
        EXPECT_EQ(two.count(), 2U);
        EXPECT_EQ(s.available(), 1U);
        EXPECT_EQ(s.in_use(), 2U);
        EXPECT_FALSE(s.try_acquire(2)) << "all or nothing";
        EXPECT_EQ(s.available(), 1U);
    }
    EXPECT_EQ(s.available(), 3U);
    EXPECT_EQ(s.in_use(), 0U);
    EXPECT_STREQ(s.name(), "slots");
}

// Exactly one permit is taken even when several appear.
TEST(semaphore, SYNC_32_waiter_takes_exactly_what_it_asked_for) {
    semaphore s(3);
    std::vector<semaphore::permit> got;
    auto all = s.try_acquire(3);
    acquire_into(s, 1, got);
    EXPECT_EQ(s.waiters_now(), 1U);
    all.give_back();
    EXPECT_EQ(got.size(), 1U);
    EXPECT_EQ(s.available(), 2U);
}

// The operation itself opens the window between the try and the registration.
TEST(semaphore, SYNC_32_permit_released_between_try_and_registration_is_not_missed) {
    semaphore s(0);
    semaphore::operation waiting = s.acquire();
    EXPECT_FALSE(waiting.await_ready());
    s.add_permits(1);
    int ran = 0;
    const auto run =
        +[](roost::ext::work& node) noexcept { ++*static_cast<int*>(static_cast<roost::ext::waiter&>(node).frame()); };
    EXPECT_FALSE(waiting.start(roost::ext::resume_target(&ran, run, {}))) << "there is no need to wait after all";
    auto mine = waiting.await_resume();
    EXPECT_EQ(mine.count(), 1U);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(s.available(), 0U);
}

// The same window; what came has been taken again by another thread: the waiter stays.
TEST(semaphore, SYNC_32_permit_stolen_meanwhile_leaves_the_waiter_waiting) {
    semaphore s(0);
    semaphore::operation waiting = s.acquire();
    EXPECT_FALSE(waiting.await_ready());
    s.add_permits(1);
    auto stolen = s.try_acquire();
    int ran = 0;
    const auto run =
        +[](roost::ext::work& node) noexcept { ++*static_cast<int*>(static_cast<roost::ext::waiter&>(node).frame()); };
    EXPECT_TRUE(waiting.start(roost::ext::resume_target(&ran, run, {})));
    EXPECT_EQ(s.waiters_now(), 1U);
    stolen.give_back();
    EXPECT_EQ(ran, 1);
    auto mine = waiting.await_resume();
    EXPECT_EQ(mine.count(), 1U);
}

TEST(semaphore, SYNC_173_may_begin_with_no_permits) {
    semaphore s(0);
    EXPECT_FALSE(s.try_acquire());
    std::vector<semaphore::permit> got;
    acquire_into(s, 1, got);
    EXPECT_TRUE(got.empty());
    s.add_permits(1);
    EXPECT_EQ(got.size(), 1U);
    EXPECT_EQ(s.total(), 1U);
}

TEST(semaphore, SYNC_33_large_request_is_not_starved_by_small_ones) {
    semaphore s(2);
    std::vector<semaphore::permit> held;
    acquire_into(s, 1, held);
    std::vector<semaphore::permit> large;
    std::vector<semaphore::permit> small;
    acquire_into(s, 2, large);
    acquire_into(s, 1, small);
    EXPECT_FALSE(s.try_acquire()) << "one is available, but not past the queue";
    EXPECT_TRUE(small.empty());
    held.clear();
    EXPECT_EQ(large.size(), 1U);
    EXPECT_TRUE(small.empty());
    large.clear();
    EXPECT_EQ(small.size(), 1U);
}

TEST(semaphore, SYNC_34_cancelled_head_lets_smaller_requests_pass) {
    semaphore s(2);
    std::vector<semaphore::permit> held;
    acquire_into(s, 1, held);
    owned large = [](semaphore& ss) -> owned { auto p = co_await ss.acquire(2); }(s);
    std::vector<semaphore::permit> small;
    acquire_into(s, 1, small);
    EXPECT_TRUE(small.empty());
    large.destroy();
    EXPECT_EQ(small.size(), 1U) << "what kept it waiting has left the queue";
}

// The first of two waiters is cancelled, then a permit is released.
TEST(semaphore, SYNC_35_release_reaches_the_second_when_the_first_was_cancelled) {
    semaphore s(1);
    auto held = s.try_acquire();
    owned first = [](semaphore& ss) -> owned { auto p = co_await ss.acquire(); }(s);
    std::vector<semaphore::permit> second;
    acquire_into(s, 1, second);
    first.destroy();
    held.give_back();
    EXPECT_EQ(second.size(), 1U);
}

// Cancelled after it had been chosen.
TEST(semaphore, SYNC_35_permit_of_a_waiter_that_never_ran_is_passed_on) {
    semaphore s(1);
    hand_executor executor;
    auto held = s.try_acquire();
    hosted first = [](hand_executor&, semaphore& ss) -> hosted { auto p = co_await ss.acquire(); }(executor, s);
    std::vector<semaphore::permit> second;
    acquire_into(s, 1, second);
    held.give_back();
    EXPECT_TRUE(second.empty());
    executor.forget();
    first.destroy();
    EXPECT_EQ(second.size(), 1U);
    second.clear();
    EXPECT_EQ(s.available(), 1U);
}

// in_use stays right when permits are added beyond the original number or taken away.
TEST(semaphore, SYNC_36_add_and_reduce_keep_in_use_right) {
    semaphore s(2);
    auto one = s.try_acquire();
    s.add_permits(3);
    EXPECT_EQ(s.total(), 5U);
    EXPECT_EQ(s.in_use(), 1U);
    auto more = s.try_acquire(4);
    EXPECT_EQ(s.in_use(), 5U);
    more.give_back();
    EXPECT_EQ(s.reduce_permits(10), 4U) << "only what is available can be taken away";
    EXPECT_EQ(s.total(), 1U);
    EXPECT_EQ(s.in_use(), 1U);
    EXPECT_EQ(s.reduce_permits(1), 0U);
    one.give_back();
    EXPECT_EQ(s.available(), 1U);
    EXPECT_EQ(s.in_use(), 0U);
}

TEST(semaphore, SYNC_36_add_permits_serves_the_waiters_they_are_enough_for) {
    semaphore s(0);
    std::vector<semaphore::permit> got;
    for (int i = 0; i < 3; ++i) {
        acquire_into(s, 1, got);
    }
    s.add_permits(2);
    EXPECT_EQ(got.size(), 2U);
    EXPECT_EQ(s.in_use(), 2U);
    s.add_permits(1);
    EXPECT_EQ(got.size(), 3U);
}

TEST(semaphore, SYNC_37_acquire_of_nothing_never_waits) {
    semaphore s(0);
    std::vector<semaphore::permit> queued;
    acquire_into(s, 1, queued);
    std::vector<semaphore::permit> got;
    acquire_into(s, 0, got);
    EXPECT_EQ(got.size(), 1U);
    s.add_permits(1);
}

TEST(semaphore, SYNC_38_blocking_forms) {
    semaphore s(1);
    auto held = s.acquire_blocking();
    EXPECT_TRUE(held);
    EXPECT_FALSE(s.acquire_blocking(1, roost::now() + std::chrono::milliseconds(3)));
    EXPECT_EQ(s.waiters_now(), 0U);
    std::atomic<bool> got{false};
    std::thread other([&] { got = static_cast<bool>(s.acquire_blocking(1)); });
    while (s.waiters_now() == 0) {
        std::this_thread::yield();
    }
    held.give_back();
    other.join();
    EXPECT_TRUE(got);
    EXPECT_EQ(s.available(), 1U);
}

// False when it gave up before the other one had come.
bool gives_up_before_another(std::chrono::milliseconds patience) {
    semaphore s(2);
    std::vector<semaphore::permit> held;
    acquire_into(s, 1, held);
    std::vector<semaphore::permit> small;
    std::atomic<bool> gave_up{false};
    std::thread large([&] {
        EXPECT_FALSE(s.acquire_blocking(2, roost::now() + patience));
        gave_up = true;
    });
    while (s.waiters_now() == 0 && !gave_up) {
        std::this_thread::yield();
    }
    acquire_into(s, 1, small);
    const bool is_behind = s.waiters_now() == 2;
    large.join();
    EXPECT_EQ(small.size(), 1U);
    return is_behind;
}

TEST(semaphore, SYNC_34_thread_that_gives_up_lets_others_pass) {
    std::chrono::milliseconds patience(20);
    while (!gives_up_before_another(patience)) {
        patience *= 2;
        ASSERT_LT(patience, std::chrono::minutes(1)) << "the small one never waits behind the large one";
    }
}

TEST(semaphore_death, SYNC_39_misuse_is_named) {
    EXPECT_DEATH(
        {
            semaphore s(2, "slots");
            s.release(1);
        },
        "semaphore 'slots'.*more often than it was taken");
    EXPECT_DEATH(
        {
            semaphore s(1, "slots");
            s.release(7);
        },
        "semaphore 'slots'.*more often than it was taken");
    EXPECT_DEATH(
        {
            semaphore s(1, "slots");
            s.add_permits(semaphore::max_permits);
        },
        "semaphore 'slots'.*more permits were added than max_permits");
    EXPECT_DEATH(
        {
            semaphore s(1, "slots");
            static_cast<void>(s.try_acquire(semaphore::max_permits + 1));
        },
        "semaphore 'slots'.*more permits were requested than max_permits");
    EXPECT_DEATH(semaphore(semaphore::max_permits + 1, "slots"),
                 "semaphore 'slots'.*made with more permits than max_permits");
}

}  // namespace
