#include <roost/runtime/detail/work_ring.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace {

using namespace runtime_tests;

// Against the obvious model.
TEST(work_ring, RUN_31_is_a_double_ended_queue_that_grows) {
    std::mt19937 random(7);
    std::vector<std::unique_ptr<call>> all;
    for (int i = 0; i < 2000; ++i) {
        all.push_back(std::make_unique<call>([] {}));
    }
    detail::work_ring ring;
    std::deque<work*> model;
    EXPECT_EQ(ring.pop_back(), nullptr);
    EXPECT_EQ(ring.pop_front(), nullptr);
    std::size_t next = 0;
    while (next < all.size()) {
        switch (random() % 5) {
            case 0: {
                work* expected = model.empty() ? nullptr : model.back();
                if (expected != nullptr) {
                    model.pop_back();
                }
                EXPECT_EQ(ring.pop_back(), expected);
                break;
            }
            case 1: {
                work* expected = model.empty() ? nullptr : model.front();
                if (expected != nullptr) {
                    model.pop_front();
                }
                EXPECT_EQ(ring.pop_front(), expected);
                break;
            }
            default: model.push_back(all[next].get()); EXPECT_TRUE(ring.push_back(*all[next++]));
        }
        ASSERT_EQ(ring.size(), model.size());
    }
}

TEST(work_ring, RUN_31_the_newest_can_be_looked_at) {
    detail::work_ring ring;
    EXPECT_EQ(ring.back(), nullptr);
    call a([] {});
    call b([] {});
    EXPECT_TRUE(ring.push_back(a));
    EXPECT_TRUE(ring.push_back(b));
    EXPECT_EQ(ring.back(), &b);
    EXPECT_EQ(ring.pop_front(), &a);
    EXPECT_EQ(ring.back(), &b);
    EXPECT_EQ(ring.pop_back(), &b);
    EXPECT_EQ(ring.back(), nullptr);
}

}  // namespace
