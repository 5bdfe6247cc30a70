#include <roost/runtime/detail/work_deque.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

namespace {

using namespace runtime_tests;

struct tiny {
    static constexpr std::size_t first_capacity = 2;
};

TEST(work_deque, RUN_10_owner_takes_the_newest_thief_the_oldest) {
    detail::work_deque<> d;
    call a([] {});
    call b([] {});
    call c([] {});
    EXPECT_EQ(d.pop(), nullptr);
    EXPECT_EQ(d.push(a), 1);
    EXPECT_EQ(d.push(b), 2);
    EXPECT_EQ(d.push(c), 3);
    EXPECT_EQ(d.size_approx(), 3);
    bool lost = false;
    EXPECT_EQ(d.pop(), &c);
    EXPECT_EQ(d.steal(lost), &a);
    EXPECT_EQ(d.pop(), &b);
    EXPECT_EQ(d.pop(), nullptr);
    EXPECT_EQ(d.steal(lost), nullptr);
    EXPECT_FALSE(lost);
    EXPECT_EQ(d.size_approx(), 0);
}

TEST(work_deque, RUN_11_grows_and_keeps_the_order) {
    detail::work_deque<tiny> d;
    std::vector<std::unique_ptr<call>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<call>([] {}));
        EXPECT_GT(d.push(*all.back()), 0);
    }
    EXPECT_GE(d.capacity(), 100U);
    bool lost = false;
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(d.steal(lost), all[static_cast<std::size_t>(i)].get());
    }
    for (int i = 99; i >= 50; --i) {
        EXPECT_EQ(d.pop(), all[static_cast<std::size_t>(i)].get());
    }
    EXPECT_EQ(d.pop(), nullptr);
}

}  // namespace
