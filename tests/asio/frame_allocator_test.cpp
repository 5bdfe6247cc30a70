#include <roost/asio/detail/frame_allocator.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace roost::detail;

static_assert(frame_allocator<int>() == frame_allocator<long>());
static_assert(std::is_empty_v<frame_allocator<>>);

TEST(frame_allocator, ASIO_63_gives_memory_for_any_number) {
    std::vector<long, frame_allocator<long>> all;
    for (long i = 0; i < 1000; ++i) {
        all.push_back(i);
    }
    EXPECT_EQ(all.back(), 999);
}

}  // namespace
