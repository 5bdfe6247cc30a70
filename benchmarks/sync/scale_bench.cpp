// The cost of an operation must not depend on how much else waits.
#include "../harness/harness.hpp"

#include <roost/sync/event.hpp>
#include <roost/sync/waiter_queue.hpp>

#include <memory>
#include <optional>

namespace {

bool never() { return false; }

// Cancel a waiter somewhere in a queue of `count`, and register it again.
bench::sample cancel_among(bench::budget b, std::size_t count) {
    using operation = roost::waiter_queue::operation<bool (*)()>;
    auto const ignore = +[](roost::ext::work&) noexcept {};
    roost::waiter_queue queue;
    auto all = std::make_unique<std::optional<operation>[]>(count);
    auto const add = [&](std::size_t k) {
        all[k].emplace(queue, &never);
        static_cast<void>(all[k]->start({nullptr, ignore, {}}));
    };
    auto const leave = [&](std::size_t k) {
        if (!all[k]->try_cancel()) std::abort();
        all[k]->await_resume();
    };
    for (std::size_t k = 0; k < count; ++k) add(k);
    auto const s = bench::per_op(b, [&](std::uint64_t n) {
        std::size_t at = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            at = (at + 7919) % count;
            leave(at);
            add(at);
        }
    });
    for (std::size_t k = 0; k < count; ++k) leave(k);
    return s;
}

} // namespace

BENCH_OURS("scale/waiters_1k") { return cancel_among(b, 1'000); }
BENCH_OURS("scale/waiters_100k") { return cancel_among(b, 100'000); }
BENCH_OURS("scale/waiters_1m") { return cancel_among(b, 1'000'000); }

// A wait is part of the coroutine that waits; the queue allocates nothing for it.
BENCH_OURS("scale/bytes_per_waiter") { return {sizeof(roost::event::operation), 1}; }
