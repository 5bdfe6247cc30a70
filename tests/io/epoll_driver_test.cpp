// The driver by itself, as an event loop of one's own uses it.

#include "support.hpp"

#include <roost/io/epoll_driver.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/testing/manual_executor.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <optional>

using namespace roost;
using namespace io_tests;

namespace {

// Counts what it is told.
class counted_source final : public ext::event_source {
public:
    counted_source() noexcept : event_source(&counted_source::told) {}
    int readable = 0;
    int writable = 0;
    int ended = 0;

private:
    static void told(ext::event_source& self, ext::io_events what) noexcept {
        auto& mine = static_cast<counted_source&>(self);
        mine.readable += what.is_readable() ? 1 : 0;
        mine.writable += what.is_writable() ? 1 : 0;
        mine.ended += what.is_ended() ? 1 : 0;
    }
};

ext::reactor& reactor_of(io::epoll_driver& driver) {
    std::error_code why;
    ext::reactor* const made = driver.reactor(why);
    EXPECT_FALSE(why);
    return *made;
}

TEST(io_epoll_driver, IO_10_events_are_reported_once) {
    io::epoll_driver driver;
    EXPECT_FALSE(driver.poll());
    const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    counted_source source;
    ASSERT_FALSE(reactor_of(driver).watch(source, fd));
    EXPECT_TRUE(driver.poll()) << "what is true already is reported";
    EXPECT_EQ(source.writable, 1);
    EXPECT_EQ(source.readable, 0);
    EXPECT_FALSE(driver.poll()) << "once";
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd, &one, sizeof one), ssize_t(sizeof one));
    driver.park(no_deadline);
    EXPECT_EQ(source.readable, 0) << "park() finds, poll() handles";
    EXPECT_TRUE(driver.poll());
    EXPECT_EQ(source.readable, 1);
    reactor_of(driver).forget(fd);
    ASSERT_EQ(::write(fd, &one, sizeof one), ssize_t(sizeof one));
    EXPECT_FALSE(driver.poll());
    ::close(fd);
}

TEST(io_epoll_driver, IO_10_the_end_of_a_peer_is_reported) {
    io::epoll_driver driver;
    int ends[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    counted_source source;
    ASSERT_FALSE(reactor_of(driver).watch(source, ends[0]));
    EXPECT_TRUE(driver.poll());
    EXPECT_EQ(source.ended, 0);
    ::shutdown(ends[1], SHUT_WR);
    EXPECT_TRUE(driver.poll());
    EXPECT_EQ(source.ended, 1);
    ::close(ends[1]);
    EXPECT_TRUE(driver.poll());
    EXPECT_EQ(source.ended, 2);
    ::close(ends[0]);
}

TEST(io_epoll_driver, IO_10_a_park_ends_at_its_deadline_or_by_a_wake) {
    io::epoll_driver driver;
    const time_point start = roost::now();
    driver.park(start + 5ms);
    EXPECT_GE(roost::now(), start + 5ms) << "nothing else could end it";
    EXPECT_FALSE(driver.poll());
    driver.wake();
    driver.park(no_deadline);
    EXPECT_TRUE(driver.poll());
    std::thread other([&driver] {
        std::this_thread::sleep_for(2ms);
        driver.wake();
    });
    driver.park(no_deadline);
    other.join();
    pollfd p{driver.native_handle(), POLLIN, 0};
    EXPECT_TRUE(driver.poll());
    EXPECT_EQ(::poll(&p, 1, 0), 0) << "nothing is left to handle";
}

TEST(io_epoll_driver, IO_32_a_closed_driver_watches_nothing) {
    std::optional<io::epoll_driver> driver;
    driver.emplace();
    ext::reactor& reactor = reactor_of(*driver);
    reactor.retain();
    EXPECT_FALSE(reactor.is_closed());
    driver.reset();
    EXPECT_TRUE(reactor.is_closed());
    counted_source source;
    EXPECT_EQ(reactor.watch(source, 0), io::errc::closed);
    reactor.release();
}

TEST(io_epoll_driver, IO_51_what_has_no_events_is_refused) {
    io::epoll_driver driver;
    counted_source source;
    EXPECT_EQ(reactor_of(driver).watch(source, -1), std::errc::bad_file_descriptor);
}

}  // namespace
