#include <roost/sync/detail/parker.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

template <class Parker>
class parker : public ::testing::Test {};
using parkers = ::testing::Types<roost::detail::futex_parker, roost::detail::portable_parker>;
TYPED_TEST_SUITE(parker, parkers);

TYPED_TEST(parker, SYNC_50_token_before_park_is_kept) {
    TypeParam p;
    p.unpark();
    p.unpark();
    p.park();
    EXPECT_FALSE(p.park(roost::now())) << "at most one token is kept";
}

TYPED_TEST(parker, SYNC_51_deadline) {
    TypeParam p;
    const auto deadline = roost::now() + std::chrono::milliseconds(5);
    EXPECT_FALSE(p.park(deadline));
    EXPECT_GE(roost::now(), deadline);
    EXPECT_FALSE(p.park(roost::time_point::min()));
    p.unpark();
    EXPECT_TRUE(p.park(roost::time_point::min())) << "a token that is there wins over a deadline that has passed";
}

TYPED_TEST(parker, SYNC_50_ping_pong) {
    TypeParam a;
    TypeParam b;
    constexpr int rounds = 5000;
    int shared = 0;
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            b.park();
            ++shared;
            a.unpark();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        b.unpark();
        a.park();
    }
    other.join();
    EXPECT_EQ(shared, rounds);
}

TYPED_TEST(parker, SYNC_52_owner_may_destroy_it_once_the_token_is_consumed) {
    for (int i = 0; i < 1000; ++i) {
        auto p = std::make_unique<TypeParam>();
        std::thread waker([raw = p.get()] { raw->unpark(); });
        p->park();
        p.reset();
        waker.join();
    }
}

TYPED_TEST(parker, SYNC_51_deadline_races_the_token) {
    for (int i = 0; i < 300; ++i) {
        TypeParam p;
        std::thread waker([&] { p.unpark(); });
        const bool in_time = p.park(roost::now() + std::chrono::microseconds(20));
        waker.join();
        EXPECT_EQ(p.park(roost::time_point::min()), !in_time) << "the one token arrives, in time or later";
    }
}

}  // namespace
