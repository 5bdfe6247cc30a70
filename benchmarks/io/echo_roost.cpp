// The echo server on Roost's own runtime: a job per connection. A limit on reads is the stream's own.

#include "../harness/server_options.hpp"

#include <roost/io/io.hpp>
#include <roost/roost.hpp>

#include <array>
#include <chrono>
#include <functional>

namespace {

using namespace roost;

task<> echo(io::tcp_stream peer, int timeout_ms) {
    std::array<char, bench::server_buffer> data;
    if (timeout_ms > 0) peer.set_read_limit(std::chrono::milliseconds(timeout_ms));
    for (;;) {
        const auto got = co_await peer.read_some(data);
        if (!got || *got == 0) break;
        const auto sent = co_await peer.write_all(io::const_buffer(data.data(), *got));
        if (!sent) break;
    }
}

task<> serve(scope& s, io::tcp_listener& door, int timeout_ms) {
    for (;;) {
        io::tcp_stream peer = co_await door.accept().or_throw();
        s.launch("session", echo(std::move(peer), timeout_ms));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bench::server_options options = bench::parse_server_options(argc, argv);
    auto door = io::tcp_listener::bind(io::endpoint::loopback(static_cast<std::uint16_t>(options.port))).value();
    bench::print_port(door.local().port());
    runtime rt(runtime_options().workers(static_cast<unsigned>(options.threads)));
    run(rt, with_scope(serve, std::ref(door), options.timeout_ms));
}
