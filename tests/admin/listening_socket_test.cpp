#include <roost/admin/detail/listening_socket.hpp>

#include "raw_client.hpp"

#include <gtest/gtest.h>

namespace roost::admin::detail {
namespace {

TEST(listening_socket, OBS_273_accepting_does_not_block) {
    listening_socket door("0");
    EXPECT_EQ(door.accept(), -1);
    EXPECT_EQ(errno, EAGAIN);
    const raw_client c(door.port());
    const int fd = door.accept();
    ASSERT_GE(fd, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    ::close(fd);
}

TEST(listening_socket, OBS_273_after_its_end_nobody_connects) {
    listening_socket door("0");
    const unsigned short port = door.port();
    door.close();
    EXPECT_EQ(door.fd(), -1);
    EXPECT_FALSE(raw_client(port).is_connected());
    door.close();
}

}  // namespace
}  // namespace roost::admin::detail
