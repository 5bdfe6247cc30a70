#include <roost/sync/detail/thread_waiter.hpp>

#include <roost/sync/detail/limits.hpp>
#include <roost/sync/detail/wait_list.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

using roost::detail::basic_thread_waiter;
using roost::detail::wait_list;
using roost::ext::claim;

template <class Parker>
class thread_waiter : public ::testing::Test {};
using parkers = ::testing::Types<roost::detail::futex_parker, roost::detail::portable_parker>;
TYPED_TEST_SUITE(thread_waiter, parkers);

TYPED_TEST(thread_waiter, SYNC_14_blocks_until_delivered) {
    wait_list list;
    basic_thread_waiter<TypeParam> self;
    EXPECT_TRUE(self.is_thread());
    list.lock();
    list.push_back(self);
    list.unlock();
    std::thread waker([&] {
        list.lock();
        list.take(self, claim::delivered);
        list.unlock();
        self.deliver("");
    });
    EXPECT_EQ(self.block_for_claim(roost::no_deadline, [] { return false; }), claim::delivered);
    waker.join();
}

// The deadline passes, but a waker has claimed the wait: its token is waited for, because it still holds this waiter.
TYPED_TEST(thread_waiter, SYNC_15_late_loser_of_the_claim_waits_for_the_token) {
    wait_list list;
    basic_thread_waiter<TypeParam> self;
    list.lock();
    list.push_back(self);
    list.take(self, claim::delivered);
    list.unlock();
    std::thread waker;
    const bool in_time = self.block(roost::time_point::min(), [&]() noexcept {
        waker = std::thread([&] { self.deliver(""); });
        return false;
    });
    EXPECT_TRUE(in_time);
    waker.join();
}

}  // namespace
