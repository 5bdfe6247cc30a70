#include "support.hpp"

#include <roost/io/unix_listener.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>

#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <fstream>
#include <optional>

using namespace roost;
using namespace io_tests;

namespace {

io::endpoint at(const std::string& path) { return io::endpoint::unix_path(path).value(); }
bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Binds a socket as a process does that dies without removing its file.
void leave_stale(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const io::endpoint where = at(path);
    ASSERT_EQ(::bind(fd, where.data(), static_cast<socklen_t>(where.size())), 0);
    ASSERT_EQ(::listen(fd, 1), 0);
    ::close(fd);
    ASSERT_TRUE(exists(path));
}

TEST(io_unix_listener, IO_43_a_stale_file_is_replaced) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    leave_stale(path);
    auto door = io::unix_listener::bind(at(path));
    ASSERT_TRUE(door) << door.code().message();
    auto client = io::unix_stream::connect(at(path)).blocking(hang_limit);
    EXPECT_TRUE(client);
    EXPECT_TRUE(door->accept().blocking(hang_limit));
}

TEST(io_unix_listener, IO_43_a_live_listener_is_not_replaced) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    auto first = io::unix_listener::bind(at(path));
    ASSERT_TRUE(first);
    EXPECT_EQ(io::unix_listener::bind(at(path)).code(), std::errc::address_in_use);
    EXPECT_TRUE(io::unix_stream::connect(at(path)).blocking(hang_limit)) << "the first one still listens";
    const std::string name = "unix:@roost-io-live-" + std::to_string(::getpid());
    auto abstract = io::unix_listener::bind(io::endpoint::parse(name).value());
    ASSERT_TRUE(abstract);
    EXPECT_EQ(io::unix_listener::bind(io::endpoint::parse(name).value()).code(), std::errc::address_in_use);
}

TEST(io_unix_listener, IO_43_a_live_listener_with_a_full_backlog_is_not_replaced) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    auto first = io::unix_listener::bind(at(path), io::listen_options().backlog(0));
    ASSERT_TRUE(first);
    std::vector<io::unix_stream> waiting;
    for (auto made = io::unix_stream::connect(at(path)).blocking(hang_limit); made;
         made = io::unix_stream::connect(at(path)).blocking(hang_limit)) {
        waiting.push_back(std::move(*made));
    }
    EXPECT_EQ(io::unix_listener::bind(at(path)).code(), std::errc::address_in_use);
    EXPECT_TRUE(exists(path));
}

TEST(io_unix_listener, IO_43_another_kind_of_file_is_not_replaced) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    std::ofstream(path) << "important";
    EXPECT_EQ(io::unix_listener::bind(at(path)).code(), std::errc::address_in_use);
    EXPECT_TRUE(exists(path));
    EXPECT_EQ(io::unix_listener::bind(at(folder.file("no/such/folder"))).code(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(io::unix_listener::bind(io::endpoint::loopback(0)).code(), std::errc::address_family_not_supported);
}

// Each of many threads finds the same stale file.
TEST(io_unix_listener, IO_43_one_of_many_replaces_a_stale_file) {
    for (int round = 0; round < 20; ++round) {
        const temporary_directory folder;
        const std::string path = folder.file("socket");
        leave_stale(path);
        std::array<std::optional<io::result<io::unix_listener>>, 4> doors;
        std::array<std::thread, 4> threads;
        for (std::size_t i = 0; i < doors.size(); ++i) {
            threads[i] = std::thread([&door = doors[i], &path] { door.emplace(io::unix_listener::bind(at(path))); });
        }
        for (std::thread& t : threads) {
            t.join();
        }
        int listening = 0;
        for (const auto& door : doors) {
            listening += door->has_value() ? 1 : 0;
            EXPECT_TRUE(door->has_value() || door->code() == std::errc::address_in_use) << door->code().message();
        }
        EXPECT_EQ(listening, 1);
        EXPECT_TRUE(io::unix_stream::connect(at(path)).blocking(hang_limit)) << "the file is that of the one that listens";
    }
}

TEST(io_unix_listener, IO_44_the_path_is_removed_with_the_listener) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    {
        auto made = io::unix_listener::bind(at(path)).value();
        EXPECT_TRUE(exists(path));
        const io::unix_listener moved = std::move(made);
        made.close();  // NOLINT(bugprone-use-after-move): it has no path any more
        EXPECT_TRUE(exists(path));
        EXPECT_TRUE(moved.is_open());
    }
    EXPECT_FALSE(exists(path));
    auto again = io::unix_listener::bind(at(path)).value();
    again.close();
    EXPECT_FALSE(exists(path)) << "close() removes it";
    again = io::unix_listener::bind(at(path)).value();
    again = io::unix_listener();
    EXPECT_FALSE(exists(path)) << "so does an assignment";
}

TEST(io_unix_listener, IO_44_the_path_of_another_socket_stays) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    auto first = io::unix_listener::bind(at(path)).value();
    ASSERT_EQ(::unlink(path.c_str()), 0);
    const auto second = io::unix_listener::bind(at(path)).value();
    first.close();
    EXPECT_TRUE(exists(path));
    EXPECT_TRUE(io::unix_stream::connect(at(path)).blocking(hang_limit));
}

TEST(io_unix_listener, IO_44_a_forked_child_leaves_the_path_alone) {
    const temporary_directory folder;
    const std::string path = folder.file("socket");
    auto door = io::unix_listener::bind(at(path)).value();
    const pid_t child = ::fork();
    if (child == 0) {
        door.close();
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(exists(path));
    EXPECT_TRUE(io::unix_stream::connect(at(path)).blocking(hang_limit)) << "the parent still listens";
}

task<> expect_closed(io::unix_listener& door) {
    const auto peer = co_await door.accept();
    EXPECT_EQ(peer.code(), io::errc::closed);
}
task<> close_beside_accept(const std::string& path) {
    auto door = io::unix_listener::bind(at(path)).value();
    co_await with_scope(
        [](scope& s, io::unix_listener& from) -> task<> {
            s.launch("accept", expect_closed(from));
            co_await sleep_for(5ms);
            from.close();
        },
        std::ref(door));
    expect_equal((co_await door.accept()).code(), io::errc::closed);
    EXPECT_EQ(door.local(), io::endpoint());
}
TEST(io_unix_listener, IO_37_close_ends_accept) {
    on_each_host([](host& where) {
        const temporary_directory folder;
        where.run(close_beside_accept(folder.file("socket")));
    });
}

}  // namespace
