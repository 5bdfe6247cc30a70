#include <roost/admin/http_address.hpp>

#include "raw_client.hpp"

#include <roost/admin/http_listener.hpp>
#include <roost/io/tcp_listener.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <system_error>

namespace roost::admin {
namespace {

http_routes page() {
    return std::move(http_routes().get("/page", [](const http_request&) { return http_reply::text(200, "hello\n"); }));
}

class folder {
public:
    folder() { EXPECT_NE(::mkdtemp(name_), nullptr); }
    ~folder() { ::rmdir(name_); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    [[nodiscard]] std::string path(const char* file) const { return std::string(name_) + "/" + file; }

private:
    char name_[32] = "/tmp/roost-admin-XXXXXX";
};

TEST(http_address, OBS_273_a_port_is_one_of_loopback) {
    EXPECT_EQ(http_address(9090).text(), "127.0.0.1:9090");
    const http_listener door("0", page());
    EXPECT_TRUE(door.address().starts_with("127.0.0.1:")) << door.address();
    EXPECT_EQ(body_of(get(door.port(), "/page")), "hello\n");
}

TEST(http_address, OBS_273_every_address_of_the_machine) {
    const http_listener door("*:0", page());
    EXPECT_NE(door.port(), 0);
    EXPECT_EQ(body_of(get(door.port(), "/page")), "hello\n");
}

TEST(http_address, OBS_273_a_unix_socket_is_for_its_owner_and_its_file_goes_with_it) {
    const folder here;
    const std::string path = here.path("admin.sock");
    {
        const http_listener door("unix:" + path, page());
        EXPECT_EQ(door.address(), "unix:" + path);
        EXPECT_EQ(door.port(), 0);
        struct stat about{};
        ASSERT_EQ(::stat(path.c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777U, 0600U);
        const raw_client c(path);
        c.send(get_text("/page"));
        EXPECT_EQ(body_of(c.read_all()), "hello\n");
    }
    struct stat about{};
    EXPECT_NE(::stat(path.c_str(), &about), 0);
}

TEST(http_address, OBS_273_a_socket_that_was_inherited) {
    const auto mine = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    {
        const http_listener door(http_address::inherited(mine.native_handle()), page());
        EXPECT_EQ(door.port(), mine.local().port());
        EXPECT_EQ(body_of(get(door.port(), "/page")), "hello\n");
    }
    EXPECT_TRUE(mine.is_open());
    EXPECT_NE(::fcntl(mine.native_handle(), F_GETFD), -1);
}

void expect_refused(const http_address& at, std::errc why) {
    try {
        const http_listener door(at, page());
        ADD_FAILURE() << at.text() << " is served";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), why) << e.what();
        EXPECT_NE(std::string(e.what()).find("cannot listen on '" + at.text() + "'"), std::string::npos) << e.what();
    }
}

TEST(http_address, OBS_273_an_error_names_the_address) {
    const http_listener taken(0, page());
    expect_refused(taken.address(), std::errc::address_in_use);
    for (const char* text : {"", "here", "fd:", "fd:x", "fd:-1", "127.0.0.1", "127.0.0.1:99999", "70000", "unix:"}) {
        expect_refused(text, std::errc::invalid_argument);
    }
    expect_refused("fd:9999", std::errc::bad_file_descriptor);
    expect_refused("unix:/there/is/no/such/folder", std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace roost::admin
