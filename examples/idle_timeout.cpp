// A limit on silence instead of on the whole: every part that arrives moves the deadline.

#include <roost/roost.hpp>

#include <cstdio>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// A peer that sends a part after each of these pauses.
task<> send_parts(channel<int>& to, std::vector<duration> pauses) {
    for (const duration pause : pauses) {
        co_await sleep_for(pause);
        static_cast<void>(co_await to.send(1));
    }
    to.close();
}

// begin body
task<int> receive_all(channel<int>& from) {
    const running_limit silence = co_await this_limit();  // of the fail_after below
    for (int parts = 0;;) {
        const auto part = co_await from.receive();
        if (!part) {
            co_return parts;
        }
        parts += *part;
        silence.set_remaining(500ms);  // from now on; extend_by() and move_to() move it, too
    }
}

task<int> receive_or_give_up(channel<int>& from) {
    try {
        co_return co_await fail_after(500ms, receive_all(from));
    } catch (const timed_out&) {
        co_return -1;  // nothing came for 500 ms, however long it went well before
    }
}
// end body

task<int> transfer(scope& s, channel<int>& line, std::vector<duration> pauses) {
    const job peer = s.launch("peer", send_parts(line, std::move(pauses)));
    const int parts = co_await receive_or_give_up(line);
    peer.cancel();
    co_return parts;
}

task<int> receive_twice() {
    channel<int> lively(1);
    channel<int> silent(1);
    const std::vector<duration> steady(8, 100ms);
    const std::vector<duration> stops = {1ms, 1h};
    const int all = co_await with_scope(transfer, std::ref(lively), steady);
    const int gave_up = co_await with_scope(transfer, std::ref(silent), stops);
    std::printf("%d parts, then %d\n", all, gave_up);
    co_return all == 8 && gave_up == -1 ? 0 : 1;
}

}  // namespace

int main() { return run(receive_twice()); }
