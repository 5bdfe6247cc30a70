#include "support.hpp"

#include <roost/io/unix_listener.hpp>
#include <roost/io/unix_stream.hpp>
#include <roost/task/with_scope.hpp>

using namespace roost;
using namespace io_tests;

namespace {

task<> shout(io::unix_stream peer) {
    std::string data;
    const auto n = co_await peer.read_until(data, "\n");
    EXPECT_TRUE(n);
    for (char& c : data) {
        c = static_cast<char>(std::toupper(c));
    }
    co_await peer.write_all(data).or_throw();
}
task<> ask(const io::endpoint& at) {
    auto door = io::unix_listener::bind(at).value();
    EXPECT_EQ(door.local(), at);
    co_await with_scope(
        [](scope& s, io::unix_listener& from) -> task<> {
            auto client = co_await io::unix_stream::connect(from.local()).or_throw();
            EXPECT_EQ(client.peer(), from.local());
            EXPECT_EQ(client.local().to_string(), "unix:");
            EXPECT_NE(std::string(client.name()).find(from.local().to_string().substr(0, 40)), std::string::npos);
            auto peer = co_await from.accept().or_throw();
            EXPECT_NE(std::string(peer.name()).find(from.local().to_string().substr(0, 40)), std::string::npos);
            s.launch("peer", shout(std::move(peer)));
            co_await client.write_all("hello\n").or_throw();
            std::string answer;
            co_await client.read_until(answer, "\n").or_throw();
            EXPECT_EQ(answer, "HELLO\n");
            expect_equal((co_await client.read_until(answer, "\r")).code(), io::errc::end_of_stream);
        },
        std::ref(door));
}

TEST(io_unix_stream, IO_42_a_path_connects_processes) {
    on_each_host([](host& where) {
        const temporary_directory folder;
        where.run(ask(io::endpoint::unix_path(folder.file("socket")).value()));
    });
}
TEST(io_unix_stream, IO_42_an_abstract_name_is_no_file) {
    on_each_host([](host& where) {
        const std::string name = "unix:@roost-io-test-" + std::to_string(::getpid());
        where.run(ask(io::endpoint::parse(name).value()));
        EXPECT_NE(::access(name.c_str() + 5, F_OK), 0);
    });
}

task<> connect_to_none(const io::endpoint& at, std::errc expected) {
    const auto peer = co_await io::unix_stream::connect(at);
    EXPECT_EQ(peer.code(), expected) << peer.code().message();
}
TEST(io_unix_stream, IO_38_no_listener_is_an_error) {
    on_each_host([](host& where) {
        const temporary_directory folder;
        where.run(
            connect_to_none(io::endpoint::unix_path(folder.file("socket")).value(), std::errc::no_such_file_or_directory));
        where.run(connect_to_none(io::endpoint::parse("unix:@roost-io-nobody").value(), std::errc::connection_refused));
    });
}

// --- a backlog without room ---------------------------------------------------------------------------------------------------

task<> fill_backlog(const io::endpoint& at) {
    auto door = io::unix_listener::bind(at, io::listen_options().backlog(1)).value();
    std::vector<io::unix_stream> waiting;
    std::error_code why;
    while (!why && waiting.size() < 10) {
        auto made = co_await io::unix_stream::connect(at);
        why = made.code();
        if (made) {
            waiting.push_back(std::move(*made));
        }
    }
    EXPECT_EQ(why, std::errc::resource_unavailable_try_again);
    expect_true(co_await door.accept());
    expect_true(co_await io::unix_stream::connect(at), "there is room again");
}
TEST(io_unix_stream, IO_42_a_full_backlog_is_an_error_at_once) {
    on_each_host([](host& where) {
        const temporary_directory folder;
        where.run(fill_backlog(io::endpoint::unix_path(folder.file("socket")).value()));
    });
}

}  // namespace
