#include <roost/sync/detail/limits.hpp>

#include <gtest/gtest.h>

namespace {

// A thread is overtaken a bounded number of times, and the bound fits where it is counted (ruling behind SYNC-26).
TEST(limits, SYNC_26_patience_is_finite) {
    EXPECT_GT(roost::detail::thread_patience, 0);
    EXPECT_LT(roost::detail::thread_patience, 255);
    EXPECT_GE(roost::detail::acquire_spins, roost::detail::park_spins);
}

}  // namespace
