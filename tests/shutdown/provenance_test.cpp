// Guards say who they are, from any thread.

#include <roost/shutdown/shutdown.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using roost::guard;
using roost::shutdown;

TEST(provenance, SHUT_57_guards_of_other_threads) {
    const shutdown s("server");
    guard moved;
    std::thread maker([&] { moved = s.guard(); });
    maker.join();
    EXPECT_EQ(s.report().total(), 1U);
    std::thread another([&] {
        const guard own = s.guard();  // may take over the ended thread's table
        EXPECT_EQ(s.report().total(), 2U);
    });
    another.join();
    EXPECT_EQ(s.report().total(), 1U);
    moved.reset();
    EXPECT_TRUE(s.report().is_empty());
}

TEST(provenance, SHUT_60_slots_are_used_again) {
    const shutdown s;
    { const guard warm = s.guard(); }
    const std::size_t before = roost::detail::recorded_capacity();
    for (int i = 0; i < 100'000; ++i) {
        const guard a = s.guard();
        const guard b = a;
        const guard c = b;
    }
    EXPECT_EQ(roost::detail::recorded_capacity(), before);
    std::vector<guard> held;
    for (int i = 0; i < 1000; ++i) {
        held.push_back(s.guard());
    }
    const std::size_t most = roost::detail::recorded_capacity();
    EXPECT_LE(most, before + 3000) << "a table grows when three quarters of it are taken, to twice its size";
    EXPECT_EQ(s.report().total(), 1000U);
    held.clear();
    EXPECT_TRUE(s.report().is_empty()) << "no record of a guard that is gone";
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 1000; ++i) {
            held.push_back(s.guard());
        }
        held.clear();
    }
    EXPECT_EQ(roost::detail::recorded_capacity(), most) << "and what is free is used again";
}

}  // namespace
