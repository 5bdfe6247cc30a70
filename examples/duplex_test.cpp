// A test of a server's session: no network, no sleeping. A client that sends one byte per second must not keep the session.

#include <roost/io/stream.hpp>
#include <roost/roost.hpp>
#include <roost/testing/duplex.hpp>
#include <roost/testing/virtual_time.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin session
// What is to be tested: answers each line with its length. A whole line has to come within ten seconds.
task<> serve(io::stream& peer) {
    std::string data;
    for (;;) {
        const auto line = co_await move_on_after(10s, peer.read_until(data, "\n"));
        if (line && *line) {
            const std::size_t size = **line;
            data.erase(0, size);
            co_await peer.write_all(std::to_string(size - 1) + "\n").or_throw();
            continue;
        }
        const bool has_ended = line && line->code() == io::errc::end_of_stream;
        if (!has_ended) {
            co_await peer.write_all("too slow\n").or_throw();
        }
        peer.close();
        co_return;
    }
}
// end session

// begin clients
task<> read_to_end(io::stream& from, std::string& answer) {
    std::string piece(64, '\0');
    for (;;) {
        const std::size_t n = co_await from.read_some(piece).or_throw();
        if (n == 0) {
            co_return;
        }
        answer.append(piece, 0, n);
    }
}
task<> two_lines(io::stream& server, std::string& answer) {
    co_await server.write_all("hello\nworld!\n").or_throw();
    static_cast<void>(server.shutdown_write());
    co_await read_to_end(server, answer);
}
task<> one_byte_per_second(io::stream& server, std::string& answer) {
    for (;;) {
        const auto sent = co_await server.write_all("x");
        if (!sent) {
            break;  // the server has gone
        }
        co_await sleep_for(1s);
    }
    co_await read_to_end(server, answer);
}
// end clients

// begin test
using client_function = task<> (*)(io::stream& server, std::string& answer);

bool answers(const char* name, client_function client, const std::string& expected, std::chrono::seconds expected_time) {
    testing::virtual_time clock;
    owned_scope root(clock, scope_options("root").report_failures());
    const time_point start = clock.now();
    // Requests arrive in pieces of one byte: a session that takes a read for a message fails here.
    auto ends = testing::duplex(testing::wire().one_byte_at_a_time());
    std::string answer;
    root.launch("session", serve(ends.server));
    root.launch("client", client(ends.client, answer));
    clock.run();
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(clock.now() - start);
    root.request_close();
    const bool is_good = root.is_closed() && answer == expected && took == expected_time;
    std::printf("%s: %s after %d s\n", name, is_good ? "good" : answer.c_str(), static_cast<int>(took.count()));
    return is_good;
}
// end test

}  // namespace

int main() {
    const bool first = answers("two lines", two_lines, "5\n6\n", 0s);
    const bool second = answers("one byte per second", one_byte_per_second, "too slow\n", 10s);
    return first && second ? 0 : 1;
}
