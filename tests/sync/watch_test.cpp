#include <roost/sync/watch.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using roost::watch;
using sync_testing::fire;
using sync_testing::owned;

fire follow(watch<int>& w, std::vector<int>& seen) {
    auto mine = w.observe();
    for (;;) {
        const bool is_new = co_await mine.changed();
        if (!is_new) {
            seen.push_back(-1);
            co_return;
        }
        seen.push_back(mine.get());
    }
}

TEST(watch, SYNC_150_change_wakes_observers) {
    watch<int> w(1, "settings");
    std::vector<int> seen;
    follow(w, seen);
    EXPECT_EQ(w.waiters_now(), 1U);
    w.set(2);
    w.modify([](int& v) { v += 10; });
    EXPECT_EQ(w.get(), 12);
    w.close();
    EXPECT_EQ(seen, (std::vector<int>{2, 12, -1}));
}

TEST(watch, SYNC_151_slow_observer_sees_the_latest_only) {
    watch<std::string> w("a");
    auto mine = w.observe();
    EXPECT_FALSE(mine.has_changed());
    w.set("b");
    w.set("c");
    EXPECT_TRUE(mine.has_changed());
    EXPECT_EQ(mine.get(), "c");
    EXPECT_FALSE(mine.has_changed());
}

TEST(watch, SYNC_152_cancelled_wait_has_seen_nothing) {
    watch<int> w(1);
    auto mine = w.observe();
    owned o = [](watch<int>::observer& m) -> owned { co_await m.changed(); }(mine);
    o.destroy();
    EXPECT_EQ(w.waiters_now(), 0U);
    w.set(2);
    EXPECT_TRUE(mine.has_changed());
}

TEST(watch, SYNC_153_blocking_forms) {
    watch<int> w(0);
    auto mine = w.observe();
    EXPECT_FALSE(mine.changed_blocking(roost::now() + std::chrono::milliseconds(2)));
    std::thread setter([&] {
        for (int i = 1; i <= 500; ++i) {
            w.set(i);
        }
        w.close();
    });
    int last = 0;
    while (mine.changed_blocking()) {
        const int v = mine.get();
        EXPECT_GE(v, last);
        last = v;
    }
    setter.join();
    EXPECT_EQ(w.get(), 500);
    EXPECT_TRUE(w.is_closed());
}

TEST(watch, SYNC_155_closing_hides_no_value) {
    watch<int> w(1);
    auto mine = w.observe();
    w.set(2);
    w.close();
    EXPECT_TRUE(mine.has_changed());
    EXPECT_TRUE(mine.changed_blocking()) << "the last value has not been seen";
    EXPECT_EQ(mine.get(), 2);
    EXPECT_FALSE(mine.has_changed());
    EXPECT_FALSE(mine.changed_blocking()) << "and there will be no other";
    auto late = w.observe();
    EXPECT_FALSE(late.changed_blocking());
}

TEST(watch, SYNC_155_nor_from_one_that_has_not_run_yet) {
    watch<int> w(1);
    sync_testing::hand_executor executor;
    std::vector<int> seen;
    sync_testing::hosted h = [](sync_testing::hand_executor&, watch<int>& of, std::vector<int>& s) -> sync_testing::hosted {
        auto mine = of.observe();
        while (co_await mine.changed()) {
            s.push_back(mine.get());
        }
        s.push_back(-1);
    }(executor, w, seen);
    w.set(2);
    w.close();
    executor.run();
    EXPECT_EQ(seen, (std::vector<int>{2, -1}));
}

TEST(watch_death, SYNC_154_destroyed_with_waiters) {
    EXPECT_DEATH(
        {
            std::vector<int> seen;
            watch<int> w(1, "settings");
            follow(w, seen);
        },
        "watch 'settings'.*destroyed while 1 waiter was still queued");
}

}  // namespace
