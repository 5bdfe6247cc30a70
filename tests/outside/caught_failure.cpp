// A server whose handlers catch the failures of scopes, groups and retries, and go on: nothing is reported, nothing piles up.
#include <roost/roost.hpp>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace roost;

namespace {

constexpr int rounds = 100'000;

std::atomic<long> alive{0};
std::atomic<long> reported{0};

// What a peer that is down makes of every request.
class peer_down : public std::runtime_error {
public:
    peer_down() : std::runtime_error("the peer is down") { ++alive; }
    peer_down(const peer_down& other) noexcept : std::runtime_error(other) { ++alive; }
    peer_down& operator=(const peer_down&) = default;
    ~peer_down() override { --alive; }
};

task<> ask_later(event& down) {
    co_await down.wait();
    throw peer_down();
}
task<int> ask(event& down) {
    co_await down.wait();
    throw peer_down();
}
task<int> ask_at_once() {
    throw peer_down();
    co_return 0;
}
task<> two_children(scope& s, event& down) {
    s.launch("a", ask_later(down));
    s.launch("b", ask_later(down));
    co_await yield();
    co_await yield();
    down.set();
}
task<> break_soon(event& down) {
    co_await yield();
    down.set();
}
task<int> group(scope& s, event& down, bool as_race) {
    s.launch("breaks", break_soon(down));
    if (as_race) {
        const auto first = co_await race(ask(down), ask(down));
        co_return first.value();
    }
    const auto [a, b] = co_await when_all(ask(down), ask(down));
    co_return a + b;
}

task<> request(int i, long& handled, long& brought) {
    try {
        event down;
        switch (i % 4) {
            case 0: co_await with_scope(two_children, std::ref(down)); break;
            case 1: static_cast<void>(co_await with_scope(group, std::ref(down), false)); break;
            case 2: static_cast<void>(co_await with_scope(group, std::ref(down), true)); break;
            default: static_cast<void>(co_await retry(backoff(duration::zero()), 3, ask_at_once)); break;
        }
    } catch (const peer_down&) {
        ++handled;
        brought += static_cast<long>(others_of(std::current_exception()).size());
    }
}

// One job that lives as long as the server does.
task<int> accept_loop(long& most, long& brought) {
    long handled = 0;
    for (int i = 0; i < rounds; ++i) {
        co_await request(i, handled, brought);
        const long now = alive.load();
        most = now > most ? now : most;
    }
    co_return handled == rounds ? 0 : 1;
}
task<> other_request(event& end, bool& ended) {
    co_await end.wait();
    ended = true;
}
task<int> server(scope& s, bool& other_ended, long& most, long& brought) {
    event end;
    const job other = s.launch("another request", other_request(end, other_ended));
    const int result = co_await s.async("accept loop", accept_loop(most, brought));
    end.set();
    co_await other.join();
    co_return result;
}
task<int> top(bool& other_ended, long& most, long& brought) {
    co_return co_await with_scope(server, std::ref(other_ended), std::ref(most), std::ref(brought));
}

int wrong(const char* what, long number) {
    std::printf("caught_failure: %s (%ld)\n", what, number);
    return 1;
}

}  // namespace

int main() {
    alarm(60);
    set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++reported; });
    bool other_ended = false;
    long most = 0;
    long brought = 0;
    try {
        if (run(top(other_ended, most, brought), runtime_options().workers(1)) != 0) {
            return wrong("not every failure was caught", 0);
        }
    } catch (const std::exception& e) {
        return wrong(e.what(), -1);
    }
    if (!other_ended) {
        return wrong("a request that had nothing to do with it was cancelled", 0);
    }
    if (reported.load() != 0) {
        return wrong("handled failures were reported as unhandled", reported.load());
    }
    if (most > 30) {
        return wrong("handled failures pile up", most);
    }
    if (alive.load() != 0) {
        return wrong("exceptions are left at the end", alive.load());
    }
    if (brought < rounds) {
        return wrong("further failures did not arrive with the first", brought);
    }
    return 0;
}
