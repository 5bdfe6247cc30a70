#include <roost/sync/event.hpp>
#include <roost/sync/waiter.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

namespace {

using roost::ext::claim;
using roost::ext::waiter;
using sync_testing::hand_executor;

static_assert(sizeof(waiter) <= 56, "with a pointer to its primitive a waiter fits a cache line");
static_assert(!std::is_copy_constructible_v<waiter> && std::is_nothrow_move_constructible_v<waiter>);
static_assert(!std::is_aggregate_v<roost::ext::resume_target> && !std::is_aggregate_v<roost::ext::wait_target>);

int runs = 0;
const auto counting = roost::ext::resume_target(nullptr, +[](roost::ext::work&) noexcept { ++runs; }, {});

TEST(waiter, SYNC_7_delivered_to_its_executor_or_inline) {
    runs = 0;
    waiter inline_one;
    inline_one.bind(counting);
    inline_one.deliver("here");
    EXPECT_EQ(runs, 1);
    hand_executor executor;
    waiter hosted_one;
    hosted_one.bind(roost::ext::resume_target(nullptr, counting.run(), executor));
    hosted_one.deliver("there");
    EXPECT_EQ(runs, 1);
    executor.run();
    EXPECT_EQ(runs, 2);
}

TEST(waiter, SYNC_10_fresh_waiter_is_idle) {
    waiter w;
    EXPECT_FALSE(w.is_started());
    EXPECT_EQ(w.finish(), claim::idle);
    waiter moved(std::move(w));
    EXPECT_FALSE(moved.is_started());
    EXPECT_FALSE(moved.is_thread());
}

TEST(waiter, SYNC_19_says_what_is_waited_for) {
    const roost::ext::wait_target target("mutex", "accounts");
    EXPECT_EQ(target.kind(), "mutex");
    EXPECT_EQ(target.name(), "accounts");
    EXPECT_EQ(roost::ext::wait_target().kind(), "");
}

// A refused post goes to the fallback; no wake is lost silently (BASE-23).
class closed_executor final : public roost::executor {
public:
    bool post(roost::ext::work&) noexcept override { return false; }
};

TEST(waiter, SYNC_7_refused_wake_runs_on_the_fallback) {
    runs = 0;
    closed_executor closed;
    hand_executor fallback;
    const auto before = roost::ext::set_fallback_executor(fallback);
    waiter w;
    w.bind(roost::ext::resume_target(nullptr, counting.run(), closed));
    w.deliver("orders");
    roost::ext::set_fallback_executor(before);
    EXPECT_EQ(fallback.run(), 1);
    EXPECT_EQ(runs, 1);
}

#if ROOST_CHECKED
sync_testing::hosted wait_for(hand_executor&, roost::event& e) { co_await e.wait(); }

TEST(waiter_death_test, SYNC_181_a_coroutine_that_an_executor_has_must_not_be_destroyed) {
    EXPECT_DEATH(
        {
            hand_executor executor;
            roost::event e("e");
            sync_testing::hosted waits = wait_for(executor, e);
            e.set();
            waits.destroy();
        },
        "destroyed after it had been woken and before its executor ran it");
}

TEST(waiter, SYNC_181_it_may_be_once_the_executor_has_forgotten_it) {
    hand_executor executor;
    roost::event e("e");
    sync_testing::hosted waits = wait_for(executor, e);
    e.set();
    EXPECT_EQ(executor.forget(), 1);
    waits.destroy();
}
#endif

}  // namespace
