// moodycamel's BlockingConcurrentQueue between two OS threads: unbounded, no order between producers, nothing suspends.
// With producer tokens, which is its fast way.
#include "../../harness/harness.hpp"

#include <concurrentqueue/blockingconcurrentqueue.h>

namespace {

using queue = moodycamel::BlockingConcurrentQueue<std::uint64_t>;

void pass_on(queue& in, queue& out, std::uint64_t n) {
    moodycamel::ProducerToken const token(out);
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t value = 0;
        in.wait_dequeue(value);
        out.enqueue(token, value);
    }
}

} // namespace

BENCH_PEER("sync/channel_ping_pong_2t", "moodycamel blocking queue (threads)") {
    auto const s = bench::per_op(b, [](std::uint64_t n) {
        queue there;
        queue back;
        back.enqueue(0);
        std::thread pong([&] { pass_on(there, back, n); });
        pass_on(back, there, n);
        pong.join();
    });
    return {s.value / 2, s.ops * 2};
}

BENCH_PEER("sync/channel_stream_2t", "moodycamel blocking queue (threads, unbounded)") {
    return bench::per_op(b, [](std::uint64_t n) {
        queue pipe;
        std::thread sender([&] {
            moodycamel::ProducerToken const token(pipe);
            for (std::uint64_t i = 0; i < n; ++i) pipe.enqueue(token, i);
        });
        for (std::uint64_t i = 0; i < n; ++i) {
            std::uint64_t value = 0;
            pipe.wait_dequeue(value);
            bench::keep(value);
        }
        sender.join();
    });
}
