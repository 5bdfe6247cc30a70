#include "../harness/harness.hpp"
#include "../harness/roost_coroutine.hpp"

#include <roost/sync/channel.hpp>

namespace {

using numbers = roost::channel<std::uint64_t>;

bench::queued ping(bench::run_queue&, numbers& out, numbers& in, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const sent = co_await out.send(i);
        auto const answer = co_await in.receive();
        bench::keep(answer);
    }
}

bench::queued pong(bench::run_queue&, numbers& in, numbers& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto got = co_await in.receive();
        auto const sent = co_await out.send(*got);
    }
}

bench::queued send_all(bench::run_queue&, numbers& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const sent = co_await out.send(i);
    }
}

bench::queued receive_all(bench::run_queue&, numbers& in, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await in.receive();
        bench::keep(got);
    }
}

} // namespace

BENCH_OURS("sync/channel_ping_pong_1t") {
    auto const s = bench::per_op(b, [](std::uint64_t n) {
        bench::run_queue ready;
        numbers there(1);
        numbers back(1);
        auto const first = ping(ready, there, back, n);
        auto const second = pong(ready, there, back, n);
        first.start();
        second.start();
        ready.drain();
        if (!first.done() || !second.done()) std::abort();
    });
    return {s.value / 2, s.ops * 2};
}

BENCH_OURS("sync/channel_stream_1t") {
    return bench::per_op(b, [](std::uint64_t n) {
        bench::run_queue ready;
        numbers pipe(64);
        auto const sender = send_all(ready, pipe, n);
        auto const receiver = receive_all(ready, pipe, n);
        sender.start();
        receiver.start();
        ready.drain();
        if (!sender.done() || !receiver.done()) std::abort();
    });
}
