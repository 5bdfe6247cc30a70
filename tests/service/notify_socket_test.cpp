#include <roost/service/detail/notify_socket.hpp>

#include "fake_manager.hpp"

#include <gtest/gtest.h>

namespace roost::service::detail {
namespace {

TEST(notify_socket, SVC_51_lines_arrive_as_one_datagram) {
    for (const bool abstract : {false, true}) {
        fake_manager manager(abstract);
        const notify_socket to(manager.address());
        ASSERT_TRUE(to.is_open());
        EXPECT_TRUE(to.send("READY=1\nSTATUS=here"));
        EXPECT_EQ(manager.receive(), "READY=1\nSTATUS=here");
    }
}

TEST(notify_socket, SVC_54_no_address_and_bad_addresses_are_quiet) {
    for (const char* address : {"", "@", "/", "relative", "vsock:2:1", "/no/such/place"}) {
        const notify_socket to(address);
        EXPECT_FALSE(to.send("READY=1")) << address;
    }
    const notify_socket too_long(std::string(200, '/'));
    EXPECT_FALSE(too_long.is_open());
}

TEST(notify_socket, SVC_54_a_manager_that_does_not_read_blocks_no_thread) {
    fake_manager manager(true);
    const notify_socket to(manager.address());
    int taken = 0;
    while (to.send("STATUS=again") && taken < 100'000) {
        ++taken;
    }
    EXPECT_LT(taken, 100'000);
}

TEST(notify_socket, SVC_53_the_watchdog_is_fed_twice_per_period) {
    using std::chrono::microseconds;
    EXPECT_EQ(watchdog_period("2000000", nullptr, 7), microseconds(1'000'000));
    EXPECT_EQ(watchdog_period("2000000", "7", 7), microseconds(1'000'000));
    EXPECT_EQ(watchdog_period("2000000", "8", 7), std::nullopt);
    for (const char* bad : {"", "0", "-5", "soon", "1s", "99999999999999999999"}) {
        EXPECT_EQ(watchdog_period(bad, nullptr, 7), std::nullopt) << bad;
    }
    EXPECT_EQ(watchdog_period(nullptr, nullptr, 7), std::nullopt);
}

}  // namespace
}  // namespace roost::service::detail
