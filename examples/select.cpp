// A worker that takes orders, writes them out when it has been quiet for a while, and stops when told to.
#include <roost/roost.hpp>

#include <chrono>
#include <cstdio>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin body
// Exactly one of the three happens. The other two take nothing and change nothing.
task<int> collect_orders(channel<int>& orders, event& stop) {
    std::vector<int> batch;
    int written = 0;
    for (;;) {
        auto got = co_await select(orders.receive(), stop.wait(), sleep_for(5ms));
        if (got.index() == 0) {
            batch.push_back(*got.get<0>());
            continue;
        }
        written += static_cast<int>(batch.size());
        batch.clear();
        if (got.index() == 1) {
            co_return written;
        }
    }
}
// end body

// begin fair
// Without `fair`, a left channel that always has a value would keep the right one waiting for ever.
task<int> merge(channel<int>& left, channel<int>& right, int count) {
    int from_right = 0;
    for (int i = 0; i < count; ++i) {
        selected<received<int>, received<int>> got = co_await select(fair, left.receive(), right.receive());
        try {
            from_right += got.get<1>() ? 1 : 0;
        } catch (const wrong_clause&) {
            continue;  // the other clause happened; index() returns which
        }
    }
    co_return from_right;
}
// end fair

task<int> fill_and_merge() {
    channel<int> left(100, "left");
    channel<int> right(100, "right");
    for (int i = 0; i < 100; ++i) {
        static_cast<void>(left.try_send(i));
        static_cast<void>(right.try_send(i));
    }
    co_return co_await merge(left, right, 100);
}

task<int> play(scope& s, channel<int>& orders, event& stop) {
    auto worker = s.async("worker", collect_orders(orders, stop));
    for (int i = 0; i < 10; ++i) {
        auto sent = co_await orders.send(i);
        static_cast<void>(sent);
    }
    co_await sleep_for(20ms);
    stop.set();
    const int written = co_await std::move(worker);
    const int from_right = co_await fill_and_merge();
    std::printf("written: %d, from the right: %s\n", written, from_right > 0 ? "some" : "none");
    co_return written == 10 && from_right > 0 ? 0 : 1;
}

task<int> serve() {
    channel<int> orders(4, "orders");
    event stop("stop");
    co_return co_await with_scope(play, std::ref(orders), std::ref(stop));
}

}  // namespace

int main() { return run(serve()); }
