// A coroutine server that drains: it takes requests until stop, and ends when all taken requests are answered.

#include <roost/runtime/run.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>

namespace {

std::atomic<int> taken{0};
std::atomic<int> answered{0};

roost::task<> answer(roost::guard working) {
    co_await roost::sleep_for(std::chrono::milliseconds(2));
    ++answered;
    working.reset();
}

// Ends on stop, also while it waits for the next request.
roost::task<> serve(roost::scope& requests_of, roost::shutdown connection, roost::channel<int>& requests) {
    for (;;) {
        auto next = co_await connection.interrupt(requests.receive());
        if (!next || !*next) break;
        ++taken;
        requests_of.launch("request", answer(connection.guard()));
    }
}

roost::task<> client(roost::shutdown server, roost::channel<int>& requests) {
    for (int i = 0; i < 50; ++i) static_cast<void>(co_await requests.send(i));
    auto drained = server.shut_down();
    co_await drained;
}

roost::task<> all(roost::scope& s, roost::shutdown server, roost::channel<int>& requests) {
    s.launch("connection 1", serve(s, server.child("connection"), requests));
    s.launch("connection 2", serve(s, server.child("connection"), requests));
    co_await client(server, requests);
}

roost::task<> run_server(roost::shutdown server, roost::channel<int>& requests) {
    co_await roost::with_scope(all, server, std::ref(requests));
}

}  // namespace

int main() {
    const roost::shutdown server("server");
    roost::channel<int> requests(4, "requests");
    roost::run(run_server(server, requests));
    std::printf("taken %d, answered %d, left %zu\n", taken.load(), answered.load(), server.guard_count());
    return taken == answered && server.state() == roost::shutdown_state::complete ? 0 : 1;
}
