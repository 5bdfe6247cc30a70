#include <roost/adapters/postgres/poller.hpp>
#include <roost/sync/event.hpp>

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the entries of a poller

namespace {

using roost::postgres::poller;

class poller_test : public testing::Test {
protected:
    poller_test() { static_cast<void>(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair)); }
    ~poller_test() override {
        ::close(pair[0]);
        ::close(pair[1]);
    }
    int pair[2] = {-1, -1};
    poller p;
};

class told : public poller::entry {
public:
    told()
        : entry(+[](entry& e, std::uint32_t got) noexcept {
              auto& self = static_cast<told&>(e);
              self.events = got;
              self.fired.set();
          }) {}
    std::uint32_t events = 0;
    roost::event fired;
};

TEST_F(poller_test, POOL_55_fires_once_when_the_socket_is_ready) {
    told t;
    ASSERT_TRUE(p.arm(t, pair[0], poller::readable));
    EXPECT_FALSE(t.fired.is_set());
    ASSERT_EQ(::write(pair[1], "x", 1), 1);
    t.fired.wait_blocking();
    EXPECT_EQ(t.events, poller::readable);
    EXPECT_FALSE(p.withdraw(t)) << "it has fired";
    told again;
    ASSERT_TRUE(p.arm(again, pair[0], poller::readable | poller::writable)) << "armed anew, and ready at once";
    again.fired.wait_blocking();
    EXPECT_EQ(again.events, poller::readable | poller::writable);
}

TEST_F(poller_test, POOL_55_a_withdrawn_entry_does_not_fire) {
    told t;
    ASSERT_TRUE(p.arm(t, pair[0], poller::readable, roost::ext::deadline_after(roost::now(), std::chrono::hours(1))));
    EXPECT_TRUE(p.withdraw(t));
    EXPECT_FALSE(p.withdraw(t));
    ASSERT_EQ(::write(pair[1], "x", 1), 1);
    told other;
    ASSERT_TRUE(p.arm(other, -1, poller::none, roost::now()));
    other.fired.wait_blocking();
    EXPECT_FALSE(t.fired.is_set());
}

TEST_F(poller_test, POOL_55_the_deadline_fires_and_can_be_brought_forward) {
    told t;
    ASSERT_TRUE(p.arm(t, pair[0], poller::readable));
    EXPECT_TRUE(p.hurry(t, roost::now()));
    t.fired.wait_blocking();
    EXPECT_EQ(t.events, poller::expired);
    EXPECT_FALSE(p.hurry(t, roost::now()));
    told timed;
    ASSERT_TRUE(p.arm(timed, -1, poller::none, roost::ext::deadline_after(roost::now(), std::chrono::milliseconds(2))));
    timed.fired.wait_blocking();
    EXPECT_EQ(timed.events, poller::expired);
}

TEST_F(poller_test, POOL_55_a_peer_that_hangs_up_is_readable) {
    told t;
    ASSERT_TRUE(p.arm(t, pair[0], poller::readable));
    ::close(pair[1]);
    pair[1] = -1;
    t.fired.wait_blocking();
    EXPECT_NE(t.events & poller::readable, 0U);
}

TEST_F(poller_test, POOL_55_a_socket_that_is_none_is_refused) {
    told t;
    EXPECT_FALSE(p.arm(t, 9999, poller::readable));
    EXPECT_FALSE(p.withdraw(t));
}

TEST(poller_ends, POOL_55_ending_with_an_armed_entry_is_a_bug) {
    EXPECT_DEATH(
        {
            told t;
            poller other("mine");
            static_cast<void>(
                other.arm(t, -1, poller::none, roost::ext::deadline_after(roost::now(), std::chrono::hours(1))));
        },
        "poller 'mine'.*while an entry is armed");
}

}  // namespace
