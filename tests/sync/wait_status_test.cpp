#include <roost/sync/wait_status.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace {

using roost::received;
using roost::sent;
using roost::wait_status;
using boxed = std::unique_ptr<int>;

static_assert(!std::is_aggregate_v<sent<int>> && !std::is_aggregate_v<received<int>>);

TEST(wait_status, SYNC_134_sent_holds_the_value_only_when_it_was_not_sent) {
    sent<boxed> done(wait_status::done, std::make_unique<int>(1));
    EXPECT_TRUE(done);
    EXPECT_FALSE(done.has_value());
    sent<boxed> closed(wait_status::closed, std::make_unique<int>(2));
    EXPECT_FALSE(closed);
    EXPECT_EQ(closed.status(), wait_status::closed);
    EXPECT_EQ(*closed.take_back(), 2);
    EXPECT_FALSE(sent<boxed>(wait_status::cancelled).has_value());
}

TEST(wait_status, SYNC_130_received) {
    received<boxed> got(wait_status::done, std::make_unique<int>(3));
    ASSERT_TRUE(got);
    EXPECT_EQ(*got->get(), 3);
    boxed moved = *std::move(got);
    EXPECT_EQ(*moved, 3);
    EXPECT_FALSE(received<boxed>(wait_status::closed, std::nullopt));
}

}  // namespace
