#include <roost/sync/detail/ring.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <new>

namespace {

using roost::detail::ring;
using boxed = std::unique_ptr<int>;
boxed box(int i) { return std::make_unique<int>(i); }

TEST(ring, SYNC_138_agrees_with_a_deque) {
    ring<boxed> r(5);
    std::deque<int> expected;
    unsigned seed = 1;
    for (int i = 0; i < 2000; ++i) {
        seed = seed * 1664525U + 1013904223U;
        const unsigned what = (seed >> 16U) % 3;
        if (what == 0 && !r.is_full()) {
            r.push_back(box(i));
            expected.push_back(i);
        } else if (what == 1 && !r.is_full()) {
            r.push_front(box(i));
            expected.push_front(i);
        } else if (!expected.empty()) {
            EXPECT_EQ(*r.pop_front(), expected.front());
            expected.pop_front();
        }
        ASSERT_EQ(r.size(), expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            ASSERT_EQ(*r.at(k), expected[k]);
        }
    }
}

TEST(ring, SYNC_138_moves_into_a_larger_one) {
    ring<boxed> small(2);
    small.push_back(box(2));
    small.push_front(box(1));
    ring<boxed> larger(4);
    small.move_into(larger);
    EXPECT_EQ(small.capacity(), 4U);
    EXPECT_EQ(larger.capacity(), 2U);
    EXPECT_EQ(*small.pop_front(), 1);
    EXPECT_EQ(*small.pop_front(), 2);
    ring<boxed> none;
    EXPECT_TRUE(none.is_full());
}

TEST(ring, SYNC_139_more_than_memory_can_hold) {
    using large = std::array<char, 64>;
    for (const std::size_t capacity : {SIZE_MAX / sizeof(large) + 1, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX}) {
        EXPECT_THROW(ring<large>{capacity}, std::bad_array_new_length) << capacity;
    }
}

}  // namespace
