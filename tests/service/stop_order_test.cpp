#include <roost/service/detail/stop_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace roost::service::detail {
namespace {

using groups = std::vector<std::vector<std::size_t>>;

stop_place plain() { return stop_place(std::nullopt); }
stop_place ranked(int r) { return stop_place(r); }
stop_place main_place() { return stop_place(std::nullopt, true); }

TEST(stop_order, SVC_40_last_added_stops_first_and_main_last) {
    EXPECT_EQ(stop_order({main_place(), plain(), plain(), plain()}), (groups{{3}, {2}, {1}, {0}}));
    EXPECT_EQ(stop_order({}), groups{});
    EXPECT_EQ(stop_order({main_place()}), (groups{{0}}));
}

TEST(stop_order, SVC_41_ranks_go_first_downwards_and_equal_ones_together) {
    EXPECT_EQ(stop_order({main_place(), ranked(1), plain(), ranked(5), ranked(1), plain()}),
              (groups{{3}, {1, 4}, {5}, {2}, {0}}));
}

TEST(stop_order, SVC_40_every_component_is_in_exactly_one_group) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        std::vector<stop_place> places;
        const std::size_t n = random() % 12;
        for (std::size_t i = 0; i < n; ++i) {
            const int r = static_cast<int>(random() % 5) - 2;
            places.push_back(i == 0 ? main_place() : random() % 2 == 0 ? plain() : ranked(r));
        }
        std::vector<std::size_t> seen;
        for (const auto& g : stop_order(places)) {
            ASSERT_FALSE(g.empty());
            seen.insert(seen.end(), g.begin(), g.end());
        }
        if (n > 0) {
            ASSERT_EQ(seen.back(), 0U);
        }
        std::sort(seen.begin(), seen.end());
        ASSERT_EQ(seen.size(), n);
        ASSERT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    }
}

TEST(stop_order, SVC_42_what_is_left_is_shared_evenly) {
    EXPECT_EQ(fair_share(std::chrono::seconds(15), 3), std::chrono::seconds(5));
    EXPECT_EQ(fair_share(std::chrono::seconds(15), 0), duration(0));
    EXPECT_EQ(fair_share(duration(-1), 3), duration(0));
}

}  // namespace
}  // namespace roost::service::detail
