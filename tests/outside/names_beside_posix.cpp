// Names that Roost shares with C headers and with std: everything can be included together under using directives, and the
// qualified name always works.
#include <roost/roost.hpp>

#include <error.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>

using namespace std;
using namespace roost;
using namespace std::chrono_literals;

task<int> count(roost::mutex& ours, int n) {
    auto held = co_await ours.lock();
    co_await sleep_for(1ms);
    if (n < 0) throw roost::error(roost::errc::closed, "negative");
    co_return n;
}

int main() {
    ::alarm(60);
    roost::shutdown server("server");
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 2;
    const bool posix = ::shutdown(pair[0], SHUT_WR) == 0;

    roost::mutex ours;
    std::mutex theirs;
    const std::lock_guard held(theirs);
    const int counted = run(count(ours, 3));
    bool thrown = false;
    try {
        run(count(ours, -1));
    } catch (const roost::error&) {
        thrown = true;
    }
    server.shut_down().wait_blocking();
    if (!posix || counted != 3 || !thrown) std::puts("a name meant something else");
    return posix && counted == 3 && thrown ? 0 : 1;
}
