// A chat: what one client says, everyone reads. Two tasks share each connection, one reads and one writes.

#include <roost/io/io.hpp>
#include <roost/roost.hpp>

#include <cstdio>
#include <memory>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin session
using line = std::shared_ptr<const std::string>;
using room = broadcast<line>;

// A client that reads slowly misses lines, and holds up no other client. One that reads nothing for 10 s is dropped.
task<> write_lines(io::stream& to, room& all) {
    room::subscriber heard = all.subscribe();
    to.set_write_limit(10s);
    for (;;) {
        const auto next = co_await heard.receive();
        if (next.missed() > 0) {
            const std::string note = "(" + std::to_string(next.missed()) + " lines missed)\n";
            co_await to.write_all(note).or_throw();
        }
        co_await to.write_all(**next).or_throw();
    }
}

task<> read_lines(scope& s, io::stream& from, room& all) {
    s.daemon("writer", write_lines(from, all));  // cancelled when this body ends; its error ends this body
    std::string data;
    for (;;) {
        const auto size = co_await from.read_until(data, "\n", 1024);
        if (!size) {
            co_return;  // the end, an error, or a line that is too long
        }
        all.send(std::make_shared<const std::string>(data, 0, *size));
        data.erase(0, *size);  // what follows the line is there for the next call
    }
}

task<> session(io::tcp_stream peer, room& all) {
    try {
        co_await with_scope(read_lines, std::ref(peer), std::ref(all));
    } catch (const io::error& e) {
        std::fprintf(stderr, "%s: %s\n", peer.name(), e.what());  // no failure of the server
    }
}
// end session

task<> serve(scope& s, io::tcp_listener& door, room& all) {
    for (;;) {
        auto peer = co_await door.accept();
        if (peer) {
            s.launch("session", session(*std::move(peer), all));
        }
    }
}

task<std::string> talk(scope& s, io::tcp_listener& door, room& all) {
    s.daemon("server", with_scope(serve, std::ref(door), std::ref(all)));
    auto ann = co_await io::tcp_stream::connect(door.local()).or_throw();
    auto bob = co_await io::tcp_stream::connect(door.local()).or_throw();
    std::string heard;
    for (;;) {  // until bob is in the room, too
        co_await ann.write_all("hello\n").or_throw();
        const auto size = co_await move_on_after(10ms, bob.read_until(heard, "\n").or_throw());
        if (size) {
            co_return heard.substr(0, *size - 1);
        }
    }
}

}  // namespace

int main() {
    room all(64, "room");
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    const std::string heard = run(with_scope(talk, std::ref(door), std::ref(all)));
    std::printf("bob hears: %s\n", heard.c_str());
    return heard == "hello" ? 0 : 1;
}
