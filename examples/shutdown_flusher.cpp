// A thread beside the server that writes a buffer out now and then, and once more at the end. Without coroutines.

#include <roost/shutdown/shutdown.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

std::atomic<int> flushes{0};

// begin flush
// The guard keeps the completion open until the last flush. The notice resolves at the stop, so the pause ends early.
void flush_until_stop(roost::guard working, roost::shutdown_notice stop) {
    while (!stop.wait_blocking(20ms)) {
        ++flushes;
    }
    ++flushes;  // what came until the stop
    working.reset();
}
// end flush

// begin end
// Returns true if everything below the node has ended in time. Otherwise names what is left, and cancels it.
bool drain(roost::shutdown_completion drained, const roost::shutdown& server, roost::time_limit limit) {
    if (drained.wait_blocking(limit)) {
        return true;
    }
    const roost::shutdown_report left = server.report();
    const roost::node top = server.tree_node();
    std::printf("%zu still below '%s':\n", left.total(), std::string(top.name()).c_str());
    for (const roost::observe::report_entry& entry : left) {
        std::printf("  %s\n", entry.to_string().c_str());
    }
    server.cancel();
    return false;
}
// end end

}  // namespace

int main() {
    const roost::shutdown server("server");
    const roost::shutdown buffer = server.child("buffer");
    std::thread flusher(flush_until_stop, buffer.guard(), buffer.shutting_down());
    std::this_thread::sleep_for(60ms);
    auto stuck = server.guard();  // an upload that does not end

    const bool early = drain(server.shut_down(), server, 50ms);
    flusher.join();
    stuck.reset();
    const bool late = drain(server.completion(), server, 5s);
    std::printf("flushed %s; in time: %s, then %s\n", flushes > 1 ? "several times" : "once", early ? "yes" : "no",
                late ? "yes" : "no");
    return flushes > 0 && !early && late ? 0 : 1;
}
