// Connections that come, talk, are cancelled and closed on two workers: no byte is lost, no descriptor is left open.

#include <roost/io/tcp_listener.hpp>
#include <roost/io/tcp_stream.hpp>

#include <roost/runtime/run.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>

namespace {

using namespace roost;
using namespace std::chrono_literals;

std::chrono::milliseconds how_long() {
    const char* seconds = std::getenv("ROOST_STRESS_SECONDS");
    return std::chrono::milliseconds(static_cast<long>((seconds == nullptr ? 1.0 : std::atof(seconds)) * 1000));
}

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

task<> echo(io::tcp_stream peer) {
    std::array<char, 512> data{};
    for (;;) {
        const auto got = co_await peer.read_some(data);
        if (!got || *got == 0) {
            co_return;
        }
        const auto sent = co_await peer.write_all(io::const_buffer(data.data(), *got));
        if (!sent) {
            co_return;
        }
    }
}

task<> serve(scope& s, io::tcp_listener& door) {
    for (;;) {
        auto peer = co_await door.accept();
        if (!peer) {
            co_return;
        }
        s.launch("session", echo(std::move(*peer)));
    }
}

// Reads an answer under short deadlines, again and again: each byte arrives once.
task<bool> talk(const io::endpoint& to, std::uint64_t seed) {
    auto peer = co_await io::tcp_stream::connect(to);
    if (!peer) {
        co_return false;
    }
    std::array<char, 200> out{};
    std::array<char, 200> in{};
    for (int round = 0; round < 20; ++round) {
        for (char& c : out) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            c = static_cast<char>(seed >> 56U);
        }
        const auto sent = co_await peer->write_all(out);
        std::size_t got = 0;
        while (sent && got < in.size()) {
            const io::mutable_buffer rest(in.data() + got, in.size() - got);
            const auto n = co_await move_on_after(std::chrono::microseconds(seed % 64 * 4), peer->read_exactly(rest));
            got += n ? n->transferred() : 0;
            if (n && !*n && n->code() != io::errc::cancelled) {
                co_return false;
            }
        }
        if (!sent || in != out) {
            co_return false;
        }
    }
    co_return true;
}

// Is cancelled, or closed by another task, in the middle.
task<> break_off(const io::endpoint& to, std::uint64_t seed) {
    auto peer = co_await io::tcp_stream::connect(to);
    if (!peer) {
        co_return;
    }
    std::array<char, 200> data{};
    static_cast<void>(co_await peer->write_all(data));
    if (seed % 2 == 0) {
        static_cast<void>(co_await move_on_after(std::chrono::microseconds(seed % 100), peer->read_exactly(data)));
        peer->close();
    }
    static_cast<void>(co_await peer->read_exactly(data));
    static_cast<void>(co_await peer->read_some(data));
}

task<> clients(scope& s, const io::endpoint& to, std::atomic<int>& wrong, std::atomic<int>& talks, time_point until) {
    std::uint64_t seed = 1;
    while (now() < until) {
        auto one = s.async("talk", talk(to, seed++));
        auto two = s.async("talk", talk(to, seed++));
        const job broken = s.launch("break", break_off(to, seed++));
        const job closed = s.launch("close", break_off(to, seed++));
        co_await sleep_for(std::chrono::microseconds(seed % 500));
        broken.cancel();
        wrong += co_await std::move(one) ? 0 : 1;
        wrong += co_await std::move(two) ? 0 : 1;
        closed.cancel();
        co_await broken.join();
        co_await closed.join();
        talks += 2;
    }
}

task<> storm(std::atomic<int>& wrong, std::atomic<int>& talks) {
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    const io::endpoint at = door.local();
    co_await with_scope(
        [](scope& s, io::tcp_listener& listener, const io::endpoint& to, std::atomic<int>& bad,
           std::atomic<int>& good) -> task<> {
            const job server = s.launch("server", with_scope(serve, std::ref(listener)));
            co_await with_scope(clients, std::cref(to), std::ref(bad), std::ref(good), now() + how_long());
            listener.close();
            co_await server.join();
        },
        std::ref(door), std::cref(at), std::ref(wrong), std::ref(talks));
}

TEST(io_stress, IO_17_connections_talk_break_off_and_close) {
    for (const unsigned workers : {1U, 2U, 4U}) {
        const std::size_t before = open_files();
        std::atomic<int> wrong{0};
        std::atomic<int> talks{0};
        {
            runtime rt(runtime_options().workers(workers));
            run(rt, storm(wrong, talks));
        }
        EXPECT_EQ(wrong, 0);
        EXPECT_GT(talks, 0);
        EXPECT_EQ(open_files(), before);
    }
}

}  // namespace
