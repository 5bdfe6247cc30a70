// moodycamel's BlockingConcurrentQueue as a pool: taking is wait_dequeue, giving back is enqueue. What a pool costs that
// only holds things: no creation, health, lifetime, order or cancellation.
#include "../../harness/harness.hpp"

#include <concurrentqueue/blockingconcurrentqueue.h>

namespace {

using queue = moodycamel::BlockingConcurrentQueue<std::uint64_t>;

void cycle(queue& pool, std::uint64_t n) {
    moodycamel::ProducerToken const token(pool);
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t value = 0;
        pool.wait_dequeue(value);
        bench::keep(value);
        pool.enqueue(token, value);
    }
}

void fill(queue& pool, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) pool.enqueue(i);
}

bench::sample cycle_2t(bench::budget b, std::uint64_t count) {
    queue pool;
    fill(pool, count);
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) { cycle(pool, n); });
}

} // namespace

BENCH_PEER("pool/cycle_1t_4", "moodycamel blocking queue") {
    queue pool;
    fill(pool, 4);
    return bench::per_op(b, [&](std::uint64_t n) { cycle(pool, n); });
}
BENCH_PEER("pool/cycle_2t_4", "moodycamel blocking queue") { return cycle_2t(b, 4); }
BENCH_PEER("pool/cycle_2t_2", "moodycamel blocking queue") { return cycle_2t(b, 2); }
BENCH_PEER("pool/cycle_2t_1", "moodycamel blocking queue") { return cycle_2t(b, 1); }

// Pop and push of the queue that cannot wait: a floor, not a pool.
namespace {
void pop_and_push(moodycamel::ConcurrentQueue<std::uint64_t>& q, std::uint64_t n) {
    moodycamel::ProducerToken const token(q);
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t value = 0;
        while (!q.try_dequeue(value)) bench::relax();
        bench::keep(value);
        q.enqueue(token, value);
    }
}
} // namespace

BENCH_FLOOR("moodycamel_queue") {
    moodycamel::ConcurrentQueue<std::uint64_t> q;
    for (std::uint64_t i = 0; i < 4; ++i) q.enqueue(i);
    return bench::per_op(b, [&](std::uint64_t n) { pop_and_push(q, n); });
}
BENCH_FLOOR("moodycamel_queue_2t") {
    moodycamel::ConcurrentQueue<std::uint64_t> q;
    for (std::uint64_t i = 0; i < 4; ++i) q.enqueue(i);
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) { pop_and_push(q, n); });
}
