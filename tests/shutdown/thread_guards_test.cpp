// What a thread keeps for its guards.

#include <roost/shutdown/detail/thread_guards.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

using roost::detail::guards_of_this_thread;

TEST(thread_guards, SHUT_75_a_thread_has_a_cell_of_its_own_as_long_as_it_lives) {
    const std::uint32_t mine = guards_of_this_thread().cell();
    EXPECT_EQ(mine, roost::seam::thread_index());
    EXPECT_EQ(guards_of_this_thread().cell(), mine);
    std::uint32_t other = mine;
    std::thread([&other] { other = guards_of_this_thread().cell(); }).join();
    EXPECT_NE(other, mine);
}

std::uint32_t seen_while_ending = 0;
struct at_the_end {
    bool is_used = false;
    ~at_the_end() { seen_while_ending = guards_of_this_thread().cell(); }
};

TEST(thread_guards, SHUT_75_a_thread_that_ends_has_none) {
    std::thread([] {
        thread_local at_the_end last;  // made first, so it goes last
        last.is_used = true;
        EXPECT_LT(guards_of_this_thread().cell(), 1000U);
    }).join();
    EXPECT_GT(seen_while_ending, 1'000'000U);
}

}  // namespace
