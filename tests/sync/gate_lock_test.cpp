#include <roost/sync/detail/gate_lock.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

using roost::detail::gate_lock;

static_assert(sizeof(gate_lock) == 4);

TEST(gate_lock, SYNC_2_gate_is_down_only_without_waiters_and_holder) {
    gate_lock l;
    EXPECT_TRUE(l.is_idle());
    l.lock();
    EXPECT_FALSE(l.is_idle());
    EXPECT_TRUE(l.is_held());
    l.unlock(true);
    EXPECT_FALSE(l.is_idle());
    EXPECT_FALSE(l.is_held());
    l.lock();
    l.unlock(false);
    EXPECT_TRUE(l.is_idle());
}

TEST(gate_lock, SYNC_17_excludes) {
    gate_lock l;
    long shared = 0;
    constexpr int rounds = 20'000;
    const auto visit = [&] {
        for (int i = 0; i < rounds; ++i) {
            l.lock();
            ++shared;
            l.unlock(i % 2 == 0);
        }
    };
    std::thread a(visit);
    std::thread b(visit);
    visit();
    a.join();
    b.join();
    EXPECT_EQ(shared, 3L * rounds);
}

}  // namespace
