// The same measurements for every design of waiter queue; the interface is described in waker.hpp.
#pragma once

#include "../../harness/harness.hpp"
#include "waker.hpp"

#include <malloc.h>

#include <memory>
#include <thread>

namespace wakeup {

inline constexpr std::size_t crowd = 100;

inline bool never() { return false; }

template <class Queue>
struct waiting {
    typename Queue::node node;
    std::atomic<bool> woken{false};

    waker wake() noexcept {
        return {[](void* self) noexcept { static_cast<waiting*>(self)->woken.store(true, std::memory_order_release); },
                this};
    }
    // Waking somebody is one call that raises a flag: of a waker, or of whatever else the queue calls.
    void add(Queue& queue) {
        if constexpr (requires { queue.wait_unless(node, woken, never); })
            queue.wait_unless(node, woken, never);
        else
            queue.wait_unless(node, wake(), never);
    }
    void await() {
        for (int spins = 0; !woken.load(std::memory_order_acquire); ++spins) {
            spins < 1000 ? bench::relax() : std::this_thread::yield();
        }
        woken.store(false, std::memory_order_relaxed);
    }
};

// Register, wake, see it: one thread.
template <class Queue>
bench::sample latency_alone(bench::budget b) {
    auto queue = std::make_unique<Queue>();
    waiting<Queue> me;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            me.add(*queue);
            queue->wake_one();
            me.await();
        }
    });
}

inline void private_work(unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) {
        bench::keep(i);
        bench::relax();
    }
}

// Two threads register, wake whoever is first, and wait for their own wake. Each thread's wake follows its own
// registration, so there is always somebody to wake and every waiter is woken. Back to back: wall time per operation.
template <class Queue>
bench::sample latency_high(bench::budget b) {
    auto queue = std::make_unique<Queue>();
    return bench::per_op_threads(b, 2, [&](unsigned, std::uint64_t n) {
        waiting<Queue> me;
        for (std::uint64_t i = 0; i < n; ++i) {
            me.add(*queue);
            queue->wake_one();
            me.await();
        }
    });
}

// Mean of the middle half: as robust as a median, and finer than the steps of the clock.
inline double middle_mean(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    std::size_t const quarter = values.size() / 4;
    double sum = 0;
    for (std::size_t i = quarter; i < values.size() - quarter; ++i) sum += values[i];
    return sum / static_cast<double>(values.size() - 2 * quarter);
}

// The same with about a microsecond of private work before each, so that the threads seldom meet: the middle half of the
// single operations, with the cost of the two time stamps taken off.
template <class Queue>
bench::sample latency_low(bench::budget b) {
    auto queue = std::make_unique<Queue>();
    std::vector<double> medians;
    std::atomic<std::uint64_t> ops{0};
    auto const one_run = [&](unsigned, std::vector<double>& mine) {
        waiting<Queue> me;
        for (auto& latency : mine) {
            private_work(40);
            std::uint64_t const empty = bench::ticks();
            std::uint64_t const start = bench::ticks();
            me.add(*queue);
            queue->wake_one();
            me.await();
            std::uint64_t const end = bench::ticks();
            latency = static_cast<double>(end - start) - static_cast<double>(start - empty);
        }
        ops.fetch_add(mine.size());
    };
    auto const begin = bench::clock::now();
    while (medians.size() < 3 || bench::ns_since(begin) < b.ms * 1e6) {
        std::vector<double> samples[2] = {std::vector<double>(2000), std::vector<double>(2000)};
        std::thread other([&] { one_run(1, samples[1]); });
        one_run(0, samples[0]);
        other.join();
        samples[0].insert(samples[0].end(), samples[1].begin(), samples[1].end());
        medians.push_back(middle_mean(samples[0]) * bench::ns_per_tick());
    }
    return {bench::median_of(medians), ops.load()};
}

// One waiter queued at a time, or a hundred all the time: the woken one registers again. Million operations per second.
template <class Queue>
bench::sample throughput(bench::budget b, std::size_t depth) {
    auto queue = std::make_unique<Queue>();
    auto all = std::make_unique<waiting<Queue>[]>(depth);
    for (std::size_t i = 0; i < depth; ++i) all[i].add(*queue);
    auto s = bench::per_op(b, [&](std::uint64_t n) {
        std::size_t at = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            queue->wake_one();
            while (!all[at].woken.load(std::memory_order_relaxed)) at = at + 1 < depth ? at + 1 : 0;
            all[at].woken.store(false, std::memory_order_relaxed);
            all[at].add(*queue);
        }
    });
    queue->wake_all();
    s.value = 1000.0 / s.value;
    return s;
}

// The call alone, per waiter.
template <class Queue>
bench::sample wake_all_crowd(bench::budget b) {
    auto queue = std::make_unique<Queue>();
    auto all = std::make_unique<waiting<Queue>[]>(crowd);
    auto s = bench::measure(b, [&](std::uint64_t n) {
        double took = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < crowd; ++k) all[k].add(*queue);
            auto const start = bench::clock::now();
            queue->wake_all();
            took += bench::ns_since(start);
        }
        return took;
    });
    return {s.value / crowd, s.ops * crowd};
}

// Cancel a waiter somewhere among a hundred and register it again. What a design leaves behind is swept every 4096
// operations, inside the measurement, since somebody has to.
template <class Queue>
bench::sample cancel_in_crowd(bench::budget b) {
    auto queue = std::make_unique<Queue>();
    auto all = std::make_unique<waiting<Queue>[]>(crowd);
    for (std::size_t k = 0; k < crowd; ++k) all[k].add(*queue);
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        std::size_t at = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            at = (at + 37) % crowd;
            if (!queue->cancel(all[at].node)) std::abort();
            all[at].add(*queue);
            if (i % 4096 == 4095) {
                queue->wake_all();
                for (std::size_t k = 0; k < crowd; ++k) all[k].add(*queue);
            }
        }
    });
    queue->wake_all();
    return s;
}

template <class Queue>
constexpr double bytes_in_node() {
    if constexpr (requires { Queue::node_bytes; })
        return Queue::node_bytes;
    else
        return sizeof(typename Queue::node);
}

inline double heap_in_use() { return static_cast<double>(mallinfo2().uordblks); }

// Bytes per registered waiter: on the heap, and in the waiter itself.
template <class Queue>
bench::sample bytes_per_waiter(bench::budget) {
    constexpr std::size_t count = 10'000;
    auto queue = std::make_unique<Queue>();
    auto all = std::make_unique<waiting<Queue>[]>(count);
    double const before = heap_in_use();
    for (std::size_t k = 0; k < count; ++k) all[k].add(*queue);
    double const after = heap_in_use();
    queue->wake_all();
    return {(after - before) / static_cast<double>(count) + bytes_in_node<Queue>(), count};
}

// Bytes that a waiter which came and was cancelled leaves behind while another one goes on waiting.
template <class Queue>
bench::sample bytes_per_cancelled(bench::budget) {
    constexpr std::size_t count = 10'000;
    auto queue = std::make_unique<Queue>();
    waiting<Queue> stays;
    stays.add(*queue);
    double const before = heap_in_use();
    for (std::size_t k = 0; k < count; ++k) {
        waiting<Queue> leaves;
        leaves.add(*queue);
        if (!queue->cancel(leaves.node)) std::abort();
    }
    double const after = heap_in_use();
    queue->wake_all();
    return {(after - before) / static_cast<double>(count), count};
}

} // namespace wakeup

#define WAKEUP_CASES(Queue, subject, kind)                                                                          \
    BENCH_CASE("sync/wakeup_latency_alone", subject, kind) { return wakeup::latency_alone<Queue>(b); }              \
    namespace low {                                                                                                 \
    BENCH_CASE("sync/wakeup_latency_low", subject, kind) { return wakeup::latency_low<Queue>(b); }                  \
    }                                                                                                               \
    namespace high {                                                                                                \
    BENCH_CASE("sync/wakeup_latency_high", subject, kind) { return wakeup::latency_high<Queue>(b); }                \
    }                                                                                                               \
    namespace one {                                                                                                 \
    BENCH_CASE("sync/wakeup_throughput_1", subject, kind) { return wakeup::throughput<Queue>(b, 1); }               \
    }                                                                                                               \
    namespace many {                                                                                                \
    BENCH_CASE("sync/wakeup_throughput_100", subject, kind) { return wakeup::throughput<Queue>(b, wakeup::crowd); } \
    }                                                                                                               \
    namespace all {                                                                                                 \
    BENCH_CASE("sync/wakeup_wake_all_100", subject, kind) { return wakeup::wake_all_crowd<Queue>(b); }              \
    }                                                                                                               \
    namespace leave {                                                                                               \
    BENCH_CASE("sync/wakeup_cancel_100", subject, kind) { return wakeup::cancel_in_crowd<Queue>(b); }               \
    }                                                                                                               \
    namespace size {                                                                                                \
    BENCH_CASE("sync/wakeup_bytes", subject, kind) { return wakeup::bytes_per_waiter<Queue>(b); }                   \
    }                                                                                                               \
    namespace left {                                                                                                \
    BENCH_CASE("sync/wakeup_bytes_cancelled", subject, kind) { return wakeup::bytes_per_cancelled<Queue>(b); }      \
    }
