// A server that has to listen before its clients start, and a helper that is not needed any more.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

task<> warm_up(event& warm) { co_await warm.wait(); }

// begin body
task<> serve(started<int> ready, int port) {
    if (port < 1024) {
        throw std::runtime_error("port " + std::to_string(port) + " is reserved");
    }
    co_await sleep_for(1ms);  // opens the socket
    ready(port);              // from here on it is a child of the scope like any other
    co_await sleep_for(2ms);  // answers requests
}

task<int> start_server(scope& s) {
    try {
        co_return co_await launch_started<int>(s, "server", serve, 80);
    } catch (const std::runtime_error& e) {
        std::printf("%s\n", e.what());  // it failed before it was ready: the error arrives here, and the scope goes on
    }
    co_return co_await launch_started<int>(s, "server", serve, 8080);
}
// end body

task<int> play(scope& s, event& warm) {
    const job helper = s.launch("warm-up", warm_up(warm));
    const int port = co_await start_server(s);
    // begin state
    if (!is_final(helper.state())) {
        helper.cancel(reason(reason_kind::requested, "the server is ready"));
    }
    co_await helper.join();
    std::printf("the helper is %s: %s\n", std::string(to_string(helper.state())).c_str(), helper.why().to_string().c_str());
    // end state
    co_return port == 8080 && helper.why().kind() == reason_kind::requested ? 0 : 1;
}

task<int> play_all() {
    event warm("warm");
    co_return co_await with_scope(play, std::ref(warm));
}

}  // namespace

int main() { return run(play_all()); }
