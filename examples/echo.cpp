// A TCP echo server and a client of it, on one runtime.

#include <roost/io/io.hpp>
#include <roost/roost.hpp>

#include <array>
#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin server
task<> session(io::tcp_stream peer) {
    peer.set_read_limit(30s);  // how long the client may be silent
    peer.set_write_limit(5s);  // how long it may leave our answer unread
    std::array<char, 4096> data;
    for (;;) {
        const auto got = co_await peer.read_some(data);
        if (!got || *got == 0) {
            co_return;  // an error, or the client has sent everything
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
        if (peer) {
            s.launch("session", session(*std::move(peer)));
        } else if (peer.code() == io::errc::closed) {
            co_return;
        } else {  // out of descriptors, for example: the next accept() waits a moment before it tries again
            std::fprintf(stderr, "accept: %s\n", peer.code().message().c_str());
        }
    }
}
// end server

// begin client
task<std::string> ask(io::endpoint server, std::string text) {
    io::tcp_stream s = co_await io::tcp_stream::connect(server).or_throw();
    co_await s.write_all(text).or_throw();
    std::string answer(text.size(), ' ');
    co_await s.read_exactly(answer).or_throw();
    co_return answer;
}
// end client

// begin thread
std::string ask_from_a_thread(const io::endpoint& server, std::string text) {
    io::tcp_stream s = io::tcp_stream::connect(server).blocking(5s).value();
    s.write_all(text).blocking(5s).value();
    s.read_exactly(text).blocking(5s).value();
    return text;
}
// end thread

// begin main
task<std::string> talk(scope& s, io::tcp_listener& door) {
    s.daemon("server", with_scope(serve, std::ref(door)));  // cancelled, with its sessions, when this body has ended
    const std::string first = co_await fail_after(5s, ask(door.local(), "hello "));
    co_return first + co_await blocking(ask_from_a_thread, door.local(), "again");
}
// end main

}  // namespace

int main() {
    io::tcp_listener door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();  // 0: any free port
    const std::string answer = run(with_scope(talk, std::ref(door)));
    std::printf("%s\n", answer.c_str());
    return answer == "hello again" ? 0 : 1;
}
