// A server of a line protocol and its clients over TCP on 127.0.0.1: deadlines for idle and slow peers, a limit of connections,
// and a stop that lets each session finish the request it has begun.
#include <roost/io/io.hpp>
#include <roost/roost.hpp>

#include <sys/socket.h>
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
namespace io = roost::io;
using roost::task;

constexpr roost::duration longest_line = 1s;

struct counts {
    std::atomic<int> sessions{0};
    std::atomic<int> answers{0};
    std::atomic<int> slow_begun{0};
    std::atomic<int> too_slow{0};
    std::atomic<int> broken{0};
    std::atomic<int> said_goodbye{0};
};

// --- the server ------------------------------------------------------------------------------------------------------------------

task<std::string> answer(std::string_view request, counts& seen) {
    if (request == "slow") {
        ++seen.slow_begun;
        co_await roost::sleep_for(100ms);
    }
    co_return "you said " + std::string(request) + "\n";
}

task<> serve(io::tcp_stream peer, roost::token stop, counts& seen) {
    ++seen.sessions;
    std::string data;
    for (;;) {
        auto reading = roost::until_stop(stop, roost::move_on_after(longest_line, peer.read_until(data, "\n", 1000)));
        const auto line = co_await std::move(reading);
        if (stop.stop_requested() && (!line || !*line || !**line)) {
            ++seen.said_goodbye;
            static_cast<void>(co_await peer.write_all("bye\n"));
            co_return;
        }
        if (!line || !*line || (*line)->code() == io::errc::cancelled) {
            ++seen.too_slow;
            static_cast<void>(co_await peer.write_all("too slow\n"));
            co_return;
        }
        if (!**line) {
            seen.broken += (*line)->code() == io::errc::end_of_stream ? 0 : 1;
            co_return;
        }
        const std::size_t size = ***line;
        const std::string text = co_await answer(std::string_view(data).substr(0, size - 1), seen);
        data.erase(0, size);
        const auto sent = co_await peer.write_all(text);
        seen.answers += sent ? 1 : 0;
    }
}

task<> accept(roost::scope& sessions, io::tcp_listener& door, counts& seen) {
    for (;;) {
        auto peer = co_await door.accept();
        if (!peer) {
            co_return;  // the door is closed
        }
        sessions.launch("session", serve(std::move(*peer), sessions.observe(), seen));
        co_await sessions.room();
    }
}

// --- the clients -----------------------------------------------------------------------------------------------------------------

class mistake : public std::runtime_error {
    using runtime_error::runtime_error;
};

task<std::string> ask(io::tcp_stream& server, std::string request) {
    co_await server.write_all(request, "\n").or_throw();
    std::string line;
    co_await server.read_until(line, "\n").or_throw();
    co_return line;
}
task<> expect_answer(io::tcp_stream& server, std::string request) {
    const std::string got = co_await ask(server, request);
    if (got != "you said " + request + "\n") {
        throw mistake("asked " + request + ", got " + got);
    }
}
task<> polite(io::endpoint at) {
    auto server = co_await io::tcp_stream::connect(at).or_throw();
    for (int i = 0; i < 20; ++i) {
        co_await expect_answer(server, "line " + std::to_string(i));
    }
}
task<> idle(io::endpoint at) {
    auto server = co_await io::tcp_stream::connect(at).or_throw();
    co_await server.write_all("half a li").or_throw();
    std::string line;
    co_await server.read_until(line, "\n").or_throw();
    if (line != "too slow\n") {
        throw mistake("an idle client got " + line);
    }
}
task<> rude(io::endpoint at) {
    auto server = co_await io::tcp_stream::connect(at).or_throw();
    co_await expect_answer(server, "first");
    co_await server.write_all("second").or_throw();
    const linger reset{1, 0};
    ::setsockopt(server.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}
// Is in the middle of a request when the server stops: gets its answer, and then the goodbye.
task<> busy_at_the_end(io::endpoint at) {
    auto server = co_await io::tcp_stream::connect(at).or_throw();
    co_await server.write_all("slow\n").or_throw();
    std::string lines;
    co_await server.read_until(lines, "bye\n").or_throw();
    if (lines != "you said slow\nbye\n") {
        throw mistake("a busy client got " + lines);
    }
}

task<> call_all(roost::scope& clients, io::endpoint at) {
    for (int i = 0; i < 50; ++i) {
        clients.launch("polite", polite(at));
    }
    for (int i = 0; i < 5; ++i) {
        clients.launch("idle", idle(at));
        clients.launch("rude", rude(at));
    }
    co_return;
}

task<> run_server(roost::scope& sessions, io::tcp_listener& door, counts& seen) {
    sessions.launch("accept", accept(sessions, door, seen));
    co_await roost::with_scope(call_all, door.local());
    co_await roost::with_scope(
        [](roost::scope& last, roost::scope& all, io::tcp_listener& from, counts& now) -> task<> {
            for (int i = 0; i < 3; ++i) {
                last.launch("busy", busy_at_the_end(from.local()));
            }
            while (now.slow_begun < 3) {
                co_await roost::sleep_for(1ms);
            }
            from.close();
            all.tree_node().stop();
        },
        std::ref(sessions), std::ref(door), std::ref(seen));
}

int main() {
    ::alarm(60);
    counts seen;
    try {
        auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
        roost::run(
            roost::with_scope(roost::scope_options("sessions").at_most(100), run_server, std::ref(door), std::ref(seen)),
            roost::runtime_options().workers(2));
    } catch (const std::exception& e) {
        std::printf("failed: %s\n", e.what());
        return 1;
    }
    std::printf("%d sessions, %d answers, %d too slow, %d broken, %d stopped\n", seen.sessions.load(), seen.answers.load(),
                seen.too_slow.load(), seen.broken.load(), seen.said_goodbye.load());
    const bool is_right = seen.sessions == 63 && seen.answers == 50 * 20 + 5 + 3 && seen.too_slow == 5 && seen.broken == 5 &&
                          seen.said_goodbye == 3;
    return is_right ? 0 : 1;
}
