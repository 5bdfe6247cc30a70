// What stop ends: a wait, a loop over a range, a reader. Each is stopped in the middle, and nothing is lost.

#include <roost/roost.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <span>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// A connection whose peer sends four bytes now and then.
class slow_socket {
public:
    static inline std::atomic<int> reads{0};
    static task<std::size_t> read_some(std::span<std::byte> into) {
        ++reads;
        co_await sleep_for(1ms);
        co_return into.size();
    }
};

// begin body
// For an awaitable the result is a std::optional. It is empty if the stop came first.
task<int> take_orders(const roost::shutdown& s, channel<int>& orders) {
    int taken = 0;
    for (;;) {
        auto next = co_await s.interrupt(orders.receive());
        if (!next || !*next) {
            co_return taken;
        }
        ++taken;
    }
}

// A range ends early.
int count_rows(const roost::shutdown& s, const std::vector<int>& rows) {
    int seen = 0;
    for (const int row : s.interrupt(rows)) {
        ++seen;
        if (row == 3) {
            static_cast<void>(s.shut_down());
        }
    }
    return seen;
}

// A reader reads zero bytes.
task<std::size_t> read_all(const roost::shutdown& s, slow_socket socket) {
    auto in = s.interrupt(socket);
    std::array<std::byte, 4> buffer{};
    std::size_t bytes = 0;
    for (;;) {
        const std::size_t n = co_await in.read_some(buffer);
        if (n == 0) {
            co_return bytes;
        }
        bytes += n;
    }
}
// end body

task<int> play(scope& scope, const roost::shutdown& s, channel<int>& orders) {
    auto taken = scope.async("orders", take_orders(s, orders));
    auto bytes = scope.async("bytes", read_all(s, slow_socket()));
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(co_await orders.send(i));
    }
    while (orders.size() > 0 || slow_socket::reads < 2) co_await sleep_for(1ms);  // both are in the middle
    const int seen = count_rows(s, {1, 2, 3, 4, 5});  // asks for the end in its middle
    const int count = co_await std::move(taken);
    const std::size_t read = co_await std::move(bytes);
    std::printf("%d orders, %d of 5 rows, %s\n", count, seen, read > 0 ? "some bytes" : "no bytes");
    co_return count == 10 && seen == 3 && read > 0 ? 0 : 1;
}

task<int> play_all() {
    const roost::shutdown s("server");
    channel<int> orders(16, "orders");
    co_return co_await with_scope(play, std::cref(s), std::ref(orders));
}

}  // namespace

int main() { return run(play_all()); }
