// What the fast path does not do: allocate, read the clock, post work.

#include <roost/base/failure_sink.hpp>
#include <roost/tree/visit.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace {
long allocations = 0;
[[maybe_unused]] thread_local bool fails_next = false;
}  // namespace

// Counts what this test binary allocates. ThreadSanitizer brings operators of its own, so there nothing is counted.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POOL_TEST_KEEPS_OPERATORS
#endif
#endif
#if !defined(POOL_TEST_KEEPS_OPERATORS)
// Kept out of line: once inlined, g++ 12 takes the pair for mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    void* p = fails_next ? nullptr : std::malloc(size == 0 ? 1 : size);
    fails_next = false;
    if (p != nullptr) {
        return p;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

using namespace pool_testing;
using roost::pool;
using roost::pool_options;

constexpr long cycles = 100'000;

// A clock that knows how often it was read; its timers never fire.
class counting_clock final : public roost::ext::timer_service {
public:
    roost::time_point now() noexcept override { return roost::time_point(roost::duration(++reads)); }
    bool arm(roost::ext::timer&) noexcept override { return true; }
    bool disarm(roost::ext::timer&) noexcept override { return true; }
    long reads = 0;
};

struct costs {
    long allocations;
    long clock_reads;
    int posts;
};

template <class Cycle>
costs cost_of(pool_options o, Cycle cycle) {
    ledger l;
    counting_clock clock;
    hand_executor where;
    costs spent{};
    o.where = where;
    o.timers = &clock;
    o.exact_clock = true;
    {
        auto p = make_pool(l, std::move(o));
        for (int i = 0; i < 10; ++i) {
            cycle(p);
        }
        const costs before{allocations, clock.reads, where.posted()};
        for (long i = 0; i < cycles; ++i) {
            cycle(p);
        }
        spent = {allocations - before.allocations, clock.reads - before.clock_reads, where.posted() - before.posts};
    }
    where.run();
    return spent;
}

void try_once(pool<thing>& p) { static_cast<void>(p.try_acquire_or_create()); }
void block_once(pool<thing>& p) { static_cast<void>(p.acquire_blocking()); }

TEST(pool_fast_path, POOL_26_no_allocation_no_clock_and_nothing_posted) {
    for (const std::uint32_t stripes : {1U, 2U}) {
        pool_options o(4, "fast");
        o.stripes = stripes;
        for (const costs c : {cost_of(o, &try_once), cost_of(o, &block_once)}) {
            EXPECT_EQ(c.allocations, 0);
            EXPECT_EQ(c.clock_reads, 0);
            EXPECT_EQ(c.posts, 0);
        }
    }
}

TEST(pool_fast_path, POOL_26_nor_when_a_coroutine_acquires) {
    ledger l;
    auto p = make_pool(l, one_stripe(4));
    long spent = -1;
    auto body = [](pool<thing>& from, long& out) -> fire {
        { auto warm = co_await from.acquire(); }
        const long before = allocations;
        for (long i = 0; i < cycles; ++i) {
            auto got = co_await from.acquire();
        }
        out = allocations - before;
    };
    body(p, spent);
    EXPECT_EQ(spent, 0);
}

// The counters count.
TEST(pool_fast_path, POOL_26_the_clock_is_read_once_per_loan_when_ages_are_tracked) {
    pool_options o(4, "aged");
    o.stripes = 1;
    o.track_ages = true;
    const costs c = cost_of(o, &try_once);
    EXPECT_EQ(c.allocations, 0);
    EXPECT_EQ(c.clock_reads, cycles);
}

#if !defined(POOL_TEST_KEEPS_OPERATORS)
TEST(pool_fast_path, POOL_26_a_pool_that_keeps_nothing_is_seen_to_allocate) {
    pool<std::string> p(one_stripe(1), [] { return std::string(100, 'x'); });
    const long before = allocations;
    for (int i = 0; i < 10; ++i) {
        p.try_acquire_or_create().handle().discard();
    }
    EXPECT_GE(allocations - before, 10);
}

TEST(pool_fast_path, POOL_44_without_memory_a_report_says_that_it_cannot_name_the_holders) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    const auto held = p.try_acquire_or_create("held");
    roost::observe::node_description d;
    fails_next = true;
    roost::detail::tree_access::core_of(p.tree_node())
        .functions()
        .describe(roost::detail::tree_access::core_of(p.tree_node()), d);
    EXPECT_FALSE(fails_next) << "it needed memory";
    EXPECT_EQ(d.state, "open");
    EXPECT_EQ(d.waits_on, "its holders (no memory to name them)");
}

TEST(pool_fast_path, POOL_101_without_memory_for_a_pool_error_the_sink_gets_the_failure_itself) {
    static std::exception_ptr reported;
    const auto before = roost::set_failure_sink(
        +[](std::string_view, std::string_view, roost::site, std::exception_ptr why) noexcept { reported = why; });
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    const std::exception_ptr why = std::make_exception_ptr(std::runtime_error("refused"));
    fails_next = true;
    core_of(p).report(roost::pool_error::step::destroy, 0, why);
    EXPECT_FALSE(fails_next) << "it needed memory";
    EXPECT_EQ(reported, why);
    reported = nullptr;
    roost::set_failure_sink(before);
}
#endif

}  // namespace
