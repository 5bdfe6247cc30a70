#include <roost/base/detail/thread_counter.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

// More threads at once than have lines of their own, and then the same numbers again in new threads.
TEST(thread_counter, OBS_140_counts_every_increment_of_every_thread_once) {
    roost::detail::basic_thread_counter<2, 1> count;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 2000; ++i) {
                    count.add(1);
                }
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
    }
    EXPECT_EQ(count.read(), 3U * 6 * 2000);
}

}  // namespace
