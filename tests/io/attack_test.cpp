// Many connections at once, peers that misbehave, and what is left of them.

#include "support.hpp"

#include <roost/task/scope_options.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/with_scope.hpp>

#include <atomic>

using namespace roost;
using namespace io_tests;

namespace {

// Answers each line; ends with the peer.
task<> serve(io::tcp_stream peer, std::atomic<int>& answered, std::atomic<int>& ended) {
    std::string data;
    for (;;) {
        const auto line = co_await peer.read_until(data, "\n");
        if (!line) {
            break;
        }
        data.erase(0, *line);
        const auto sent = co_await peer.write_all("ok\n");
        if (!sent) {
            break;
        }
        ++answered;
    }
    ++ended;
}
task<> accept_forever(scope& s, io::tcp_listener& door, std::atomic<int>& answered, std::atomic<int>& ended) {
    for (;;) {
        auto peer = co_await door.accept();
        if (!peer) {
            co_return;  // closed
        }
        s.launch("session", serve(std::move(*peer), answered, ended));
    }
}

// A server whose door is closed when the attack is over. Every session has to end by itself.
class server {
public:
    io::tcp_listener door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    std::atomic<int> answered{0};
    std::atomic<int> ended{0};

    task<> run(task<> attack) {
        co_await with_scope(
            [](scope& s, server& me, task<> against) -> task<> {
                s.launch("accept", accept_forever(s, me.door, me.answered, me.ended));
                co_await std::move(against);
                me.door.close();
            },
            std::ref(*this), std::move(attack));
    }
};

task<> one_of_many(io::endpoint at, std::atomic<int>& good) {
    auto peer = co_await io::tcp_stream::connect(at).or_throw();
    co_await peer.write_all("hello\n").or_throw();
    std::string data;
    co_await peer.read_until(data, "\n").or_throw();
    good += data == "ok\n" ? 1 : 0;
}
task<> connect_at_once(io::endpoint at, int count, std::atomic<int>& good) {
    co_await with_scope(
        [](scope& s, io::endpoint to, int n, std::atomic<int>& ok) -> task<> {
            for (int i = 0; i < n; ++i) {
                s.launch("client", one_of_many(to, ok));
            }
            co_return;
        },
        at, count, std::ref(good));
}
TEST(io_attack, IO_59_a_thousand_connections_at_once) {
    on_each_host([](host& where) {
        const int before = open_descriptors();
        {
            server here;
            std::atomic<int> good{0};
            where.run(here.run(connect_at_once(here.door.local(), 1000, good)));
            EXPECT_EQ(good, 1000);
            EXPECT_EQ(here.answered, 1000);
            EXPECT_EQ(here.ended, 1000);
        }
        EXPECT_LE(open_descriptors(), before + 2) << "no more than the driver's own are left";
    });
}

// --- resets --------------------------------------------------------------------------------------------------------------------

task<> reset_a_pipeline(io::endpoint at) {
    auto peer = co_await io::tcp_stream::connect(at).or_throw();
    std::string lines;
    for (int i = 0; i < 200; ++i) {
        lines += "request\n";
    }
    co_await peer.write_all(lines).or_throw();
    std::string data;
    co_await peer.read_until(data, "\n").or_throw();  // some are answered, none of the others is read
    reset_on_close(peer.native_handle());
}
task<> reset_many(io::endpoint at) {
    co_await with_scope(
        [](scope& s, io::endpoint to) -> task<> {
            for (int i = 0; i < 50; ++i) {
                s.launch("client", reset_a_pipeline(to));
            }
            co_return;
        },
        at);
}
TEST(io_attack, IO_59_resets_in_the_middle_of_a_pipeline) {
    on_each_host([](host& where) {
        const int before = open_descriptors();
        {
            server here;
            where.run(here.run(reset_many(here.door.local())));
            EXPECT_EQ(here.ended, 50) << "each session notices";
            EXPECT_GE(here.answered, 50);
        }
        EXPECT_LE(open_descriptors(), before + 2);
    });
}

// A peer that is gone before it is accepted.
task<> reset_before_accept() {
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    for (int i = 0; i < 20; ++i) {
        auto peer = co_await io::tcp_stream::connect(door.local()).or_throw();
        reset_on_close(peer.native_handle());
    }
    auto good = co_await io::tcp_stream::connect(door.local()).or_throw();
    for (bool found = false; !found;) {
        auto peer = co_await door.accept().or_throw();
        found = peer.peer() == good.local();
        if (!found) {
            std::array<char, 1> data{};
            const auto got = co_await peer.read_some(data);
            EXPECT_EQ(got.code(), std::errc::connection_reset);
        }
    }
}
TEST(io_attack, IO_59_peers_that_are_gone_before_they_are_accepted) { on_each_host_run(&reset_before_accept); }

// --- peers that never send -------------------------------------------------------------------------------------------------------

task<> expect_timed_out(io::tcp_stream peer, std::atomic<int>& count) {
    peer.set_read_limit(50ms);
    std::array<char, 8> data{};
    const auto got = co_await peer.read_exactly(data);
    count += got.code() == io::errc::timed_out ? 1 : 0;
}
task<> accept_silent(scope& s, io::tcp_listener& door, int count, std::atomic<int>& timed_out) {
    for (int i = 0; i < count; ++i) {
        s.launch("session", expect_timed_out(co_await door.accept().or_throw(), timed_out));
    }
}
task<> stay_silent(int count, std::atomic<int>& timed_out) {
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    co_await with_scope(
        [](scope& s, io::tcp_listener& from, int n, std::atomic<int>& ended) -> task<> {
            s.launch("accept", accept_silent(s, from, n, ended));
            std::vector<io::tcp_stream> peers;
            for (int i = 0; i < n; ++i) {
                peers.push_back(co_await io::tcp_stream::connect(from.local()).or_throw());
                if (i % 2 == 0) {
                    co_await peers.back().write_all("half").or_throw();
                }
            }
            while (ended < n) {
                co_await sleep_for(5ms);
            }
        },
        std::ref(door), count, std::ref(timed_out));
}
TEST(io_attack, IO_59_peers_that_open_and_never_send) {
    on_each_host([](host& where) {
        const int before = open_descriptors();
        std::atomic<int> timed_out{0};
        where.run(stay_silent(200, timed_out));
        EXPECT_EQ(timed_out, 200);
        EXPECT_LE(open_descriptors(), before + 2);
    });
}

// Connections that stay open and idle cost no processor time.
task<> idle(int count, duration how_long, duration& used) {
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    std::vector<io::tcp_stream> peers;
    co_await with_scope(
        [](scope& s, io::tcp_listener& from, std::vector<io::tcp_stream>& all, int n, duration length,
           duration& cpu) -> task<> {
            std::atomic<int> answered{0};
            std::atomic<int> ended{0};
            job accepting = s.launch("accept", accept_forever(s, from, answered, ended));
            for (int i = 0; i < n; ++i) {
                all.push_back(co_await io::tcp_stream::connect(from.local()).or_throw());
            }
            co_await sleep_for(50ms);
            const duration before = cpu_time();
            co_await sleep_for(length);
            cpu = cpu_time() - before;
            from.close();
            all.clear();
            while (ended < n) {
                co_await sleep_for(1ms);
            }
        },
        std::ref(door), std::ref(peers), count, how_long, std::ref(used));
}
TEST(io_attack, IO_59_idle_connections_do_not_spin) {
    on_each_host([](host& where) {
        duration used{};
        where.run(idle(300, 300ms, used));
        EXPECT_LT(used, 200ms) << "a thread that spins would use all of it";
    });
}

// One direction is closed on both sides, one after the other; then the connection is gone.
task<> half_open() {
    tcp_pair both = connected();
    EXPECT_TRUE(both.client.shutdown_write());
    std::array<char, 8> data{};
    const duration before = cpu_time();
    for (int i = 0; i < 3; ++i) {
        const auto end = co_await both.server.read_some(data);
        expect_true(end && *end == 0, "the end stays");
        const auto nothing = co_await move_on_after(100ms, both.client.read_some(data));
        expect_false(nothing);
    }
    EXPECT_LT(cpu_time() - before, 200ms) << "it spins";
    const auto sent = co_await both.server.write_all("late");
    expect_true(sent);
    const auto got = co_await both.client.read_some(data);
    EXPECT_EQ(got.transferred(), 4U);
}
TEST(io_attack, IO_59_half_open_peers_do_not_spin) { on_each_host_run(&half_open); }

// A read stops at urgent data. What is behind that is read without a further event.
task<> send_urgent_data() {
    tcp_pair both = connected();
    std::array<char, 64> data{};
    expect_false(co_await move_on_after(2ms, both.server.read_some(data)), "registered");
    const int fd = both.client.native_handle();
    EXPECT_EQ(::send(fd, "abc", 3, 0), 3);
    EXPECT_EQ(::send(fd, "!", 1, MSG_OOB), 1);
    EXPECT_EQ(::send(fd, "def", 3, 0), 3);
    co_await sleep_for(20ms);
    const auto got = co_await move_on_after(5s, both.server.read_exactly(io::mutable_buffer(data.data(), 6)));
    expect_true(got && *got, "it waits for bytes that are there");
    EXPECT_EQ(std::string_view(data.data(), 6), "abcdef");
}
TEST(io_attack, IO_59_urgent_data) { on_each_host_run(&send_urgent_data); }

}  // namespace
