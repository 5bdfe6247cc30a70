#include <roost/asio/detail/handler_memory.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace {

using namespace roost::detail;

TEST(handler_memory, ASIO_13_one_block_without_allocation_and_more_with) {
    handler_memory memory;
    void* first = memory.allocate(100);
    EXPECT_TRUE(memory.is_in_use());
    void* second = memory.allocate(100);
    EXPECT_NE(first, second);
    memory.deallocate(second);
    EXPECT_TRUE(memory.is_in_use());
    memory.deallocate(first);
    EXPECT_FALSE(memory.is_in_use());
    void* large = memory.allocate(100'000);
    EXPECT_FALSE(memory.is_in_use());
    memory.deallocate(large);

    handler_allocator<int> ints(memory);
    handler_allocator<double> doubles(ints);
    EXPECT_EQ(ints, doubles);
    int* i = ints.allocate(1);
    EXPECT_TRUE(memory.is_in_use());
    ints.deallocate(i, 1);
}

}  // namespace
