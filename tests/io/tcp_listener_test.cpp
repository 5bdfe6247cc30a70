#include "support.hpp"

#include <roost/io/tcp_listener.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>

using namespace roost;
using namespace io_tests;

namespace {

io::tcp_listener listening() { return io::tcp_listener::bind(io::endpoint::loopback(0)).value(); }

TEST(io_tcp_listener, IO_34_port_zero_is_any_free_port) {
    const auto door = listening();
    EXPECT_TRUE(door.is_open());
    EXPECT_GE(door.native_handle(), 0);
    EXPECT_NE(door.local().port(), 0);
    EXPECT_EQ(door.local().to_string(), "127.0.0.1:" + std::to_string(door.local().port()));
}

TEST(io_tcp_listener, IO_34_errors_of_the_system) {
    const auto door = listening();
    const int before = open_descriptors();
    EXPECT_EQ(io::tcp_listener::bind(door.local()).code(), std::errc::address_in_use);
    EXPECT_EQ(io::tcp_listener::bind(io::endpoint()).code(), std::errc::address_family_not_supported);
    EXPECT_EQ(io::tcp_listener::bind(io::endpoint::parse("192.0.2.1:0").value()).code(), std::errc::address_not_available);
    EXPECT_EQ(open_descriptors(), before);
}

TEST(io_tcp_listener, IO_34_a_port_can_be_bound_again_at_once) {
    io::endpoint at;
    {
        auto door = listening();
        at = door.local();
        auto client = io::tcp_stream::connect(at).blocking(hang_limit).value();
        auto server = door.accept().blocking(hang_limit).value();
        server.close();  // first, so that this side keeps the connection in TIME_WAIT
    }
    EXPECT_TRUE(io::tcp_listener::bind(at));
}

TEST(io_tcp_listener, IO_40_a_port_can_be_shared) {
    auto first = io::tcp_listener::bind(io::endpoint::loopback(0), io::listen_options().share_port());
    ASSERT_TRUE(first);
    EXPECT_TRUE(io::tcp_listener::bind(first->local(), io::listen_options().share_port()));
    EXPECT_EQ(io::tcp_listener::bind(first->local()).code(), std::errc::address_in_use);
}

task<> accept_two() {
    auto door = listening();
    auto first = co_await io::tcp_stream::connect(door.local()).or_throw();
    auto second = co_await io::tcp_stream::connect(door.local()).or_throw();
    const auto a = co_await door.accept().or_throw();
    const auto b = co_await door.accept().or_throw();
    EXPECT_EQ(a.peer(), first.local()) << "in the order of connecting";
    EXPECT_EQ(b.peer(), second.local());
    EXPECT_EQ(a.local(), door.local());
    EXPECT_EQ(first.peer(), door.local());
}
TEST(io_tcp_listener, IO_35_connections_are_accepted_in_order) { on_each_host_run(&accept_two); }

task<> accept_one(io::tcp_listener& door, int& accepted) {
    const auto peer = co_await door.accept();
    EXPECT_TRUE(peer);
    ++accepted;
}
task<> accept_later() {
    auto door = listening();
    int accepted = 0;
    co_await with_scope(
        [](scope& s, io::tcp_listener& from, int& count) -> task<> {
            s.launch("accept", accept_one(from, count));
            co_await sleep_for(2ms);
            co_await io::tcp_stream::connect(from.local()).or_throw();
        },
        std::ref(door), std::ref(accepted));
    EXPECT_EQ(accepted, 1);
}
TEST(io_tcp_listener, IO_35_accept_waits_for_a_connection) { on_each_host_run(&accept_later); }

task<> accept_with_deadline() {
    auto door = listening();
    expect_false(co_await move_on_after(3ms, door.accept()));
    auto client = co_await io::tcp_stream::connect(door.local()).or_throw();
    const auto peer = co_await door.accept();
    EXPECT_TRUE(peer) << "no connection was lost";
}
TEST(io_tcp_listener, IO_17_a_cancelled_accept_takes_no_connection) { on_each_host_run(&accept_with_deadline); }

task<> expect_closed(io::tcp_listener& door) {
    const auto peer = co_await door.accept();
    EXPECT_EQ(peer.code(), io::errc::closed) << peer.code().message();
}
task<> close_beside_accept(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        auto door = listening();
        co_await with_scope(
            [](scope& s, io::tcp_listener& from) -> task<> {
                s.launch("first", expect_closed(from));
                s.launch("second", expect_closed(from));
                co_await yield();
                from.close();
            },
            std::ref(door));
        expect_equal((co_await door.accept()).code(), io::errc::closed);
        EXPECT_FALSE(door.is_open());
        EXPECT_EQ(door.local(), io::endpoint());
        EXPECT_EQ(door.native_handle(), -1);
    }
}
TEST(io_tcp_listener, IO_37_close_ends_accept) {
    on_each_host([](host& where) { where.run(close_beside_accept(50)); });
}

TEST(io_tcp_listener, IO_13_accept_may_begin_beside_a_close) {
    for (int i = 0; i < 100; ++i) {
        auto door = listening();
        std::thread accepting([&door] {
            std::error_code why;
            while (!why) {
                why = door.accept().blocking(hang_limit).code();
            }
            EXPECT_EQ(why, io::errc::closed) << why.message();
        });
        if (i % 2 == 0) {
            std::this_thread::yield();
        }
        door.close();
        accepting.join();
    }
}

TEST(io_tcp_listener, IO_30_accept_blocks_a_thread) {
    auto door = listening();
    EXPECT_EQ(door.accept().blocking(3ms).code(), io::errc::timed_out);
    std::thread client([at = door.local()] { EXPECT_TRUE(io::tcp_stream::connect(at).blocking(hang_limit)); });
    EXPECT_TRUE(door.accept().blocking(hang_limit));
    client.join();
    std::thread accepting([&door] { EXPECT_EQ(door.accept().blocking(hang_limit).code(), io::errc::closed); });
    std::this_thread::sleep_for(3ms);
    door.close();
    accepting.join();
}

TEST(io_tcp_listener, IO_41_every_address_includes_ipv4) {
    auto door = io::tcp_listener::bind(io::endpoint::any(0)).value();
    const io::endpoint at = io::endpoint::loopback(door.local().port());
    auto client = io::tcp_stream::connect(at).blocking(hang_limit);
    ASSERT_TRUE(client);
    const auto peer = door.accept().blocking(hang_limit).value();
    EXPECT_EQ(peer.peer().to_string(), client->local().to_string()) << "a mapped address prints as what it is";
}
TEST(io_tcp_listener, IO_41_ipv6) {
    auto door = io::tcp_listener::bind(io::endpoint::parse("[::1]:0").value());
    if (!door) {
        GTEST_SKIP() << "no IPv6: " << door.code().message();
    }
    auto client = io::tcp_stream::connect(door->local()).blocking(hang_limit).value();
    auto peer = door->accept().blocking(hang_limit).value();
    EXPECT_EQ(peer.peer(), client.local());
    EXPECT_TRUE(client.write_all("six").blocking(hang_limit));
    std::array<char, 3> data{};
    EXPECT_TRUE(peer.read_exactly(data).blocking(hang_limit));
}

// --- no descriptor left -------------------------------------------------------------------------------------------------------

// While it lives, the process can open no descriptor.
class no_descriptors {
public:
    no_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = 0;
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    no_descriptors(const no_descriptors&) = delete;
    no_descriptors& operator=(const no_descriptors&) = delete;
    ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

// Each failed accept() is one call of the kernel's. Without a pause there would be a hundred thousand of them.
task<> accept_until(io::tcp_listener& door, std::size_t wanted, int& failures) {
    for (std::size_t accepted = 0; accepted < wanted;) {
        const auto peer = co_await door.accept();
        if (peer) {
            ++accepted;
        } else {
            EXPECT_EQ(peer.code(), std::errc::too_many_files_open) << peer.code().message();
            ++failures;
        }
    }
}
task<> run_out_of_descriptors() {
    auto door = listening();
    std::vector<io::tcp_stream> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(co_await io::tcp_stream::connect(door.local()).or_throw());
    }
    co_await move_on_after(1ms, door.accept());  // so that it is registered
    int failures = 0;
    const duration before = cpu_time();
    co_await with_scope(
        [](scope& s, io::tcp_listener& from, int& count) -> task<> {
            auto none = std::make_unique<no_descriptors>();
            s.launch("accept", accept_until(from, 2, count));
            co_await sleep_for(300ms);
            none.reset();
        },
        std::ref(door), std::ref(failures));
    EXPECT_GE(failures, 2) << "it has been tried again";
    EXPECT_LE(failures, 50) << "it spins";
    EXPECT_LT(cpu_time() - before, 200ms) << "it spins";
}
TEST(io_tcp_listener, IO_36_accept_without_descriptors_does_not_spin) { on_each_host_run(&run_out_of_descriptors); }

TEST(io_tcp_listener, IO_36_a_thread_that_accepts_without_descriptors_does_not_spin) {
    auto door = listening();
    auto client = io::tcp_stream::connect(door.local()).blocking(hang_limit).value();
    int failures = 0;
    {
        const no_descriptors none;
        const time_point end = roost::now() + 200ms;
        while (roost::now() < end) {
            failures += door.accept().blocking(50ms).has_value() ? 0 : 1;
        }
    }
    EXPECT_GE(failures, 2);
    EXPECT_LE(failures, 50) << "it spins";
    EXPECT_TRUE(door.accept().blocking(hang_limit));
}

}  // namespace
