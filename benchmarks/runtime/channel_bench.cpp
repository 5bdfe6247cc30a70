// Two jobs and their channels on a runtime of one or two threads; compare tokio's and Go's.
#include "../harness/harness.hpp"

#include <roost/runtime/runtime.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

using roost::task;

namespace {

using numbers = roost::channel<std::uint64_t>;

task<> ping(numbers& out, numbers& in, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const sent = co_await out.send(i);
        auto const answer = co_await in.receive();
        bench::keep(answer);
    }
}

task<> pong(numbers& in, numbers& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto got = co_await in.receive();
        auto const sent = co_await out.send(*got);
    }
}

task<> both(roost::scope& s, numbers* there, numbers* back, std::uint64_t n) {
    s.launch("ping", ping(*there, *back, n));
    s.launch("pong", pong(*there, *back, n));
    co_return;
}

task<> ping_pong(std::uint64_t n) {
    numbers there(1);
    numbers back(1);
    co_await roost::with_scope(both, &there, &back, n);
}

task<> send_all(numbers& out, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const sent = co_await out.send(i);
    }
}

task<> receive_all(numbers& in, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const got = co_await in.receive();
        bench::keep(got);
    }
}

task<> both_ends(roost::scope& s, numbers* pipe, std::uint64_t n) {
    s.launch("sender", send_all(*pipe, n));
    s.launch("receiver", receive_all(*pipe, n));
    co_return;
}

task<> stream(std::uint64_t n) {
    numbers pipe(64);
    co_await roost::with_scope(both_ends, &pipe, n);
}

bench::sample ping_pongs(bench::budget b, unsigned workers) {
    roost::runtime threads(roost::runtime_options().workers(workers));
    auto const s = bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, ping_pong(n)); });
    return {s.value / 2, s.ops * 2};
}

bench::sample streams(bench::budget b, unsigned workers) {
    roost::runtime threads(roost::runtime_options().workers(workers));
    return bench::per_op(b, [&](std::uint64_t n) { roost::block_on(threads, stream(n)); });
}

} // namespace

BENCH_OURS("sync/channel_ping_pong_1t") { return ping_pongs(b, 1); }
BENCH_OURS("sync/channel_ping_pong_2t") { return ping_pongs(b, 2); }
BENCH_OURS("sync/channel_stream_1t") { return streams(b, 1); }
BENCH_OURS("sync/channel_stream_2t") { return streams(b, 2); }
