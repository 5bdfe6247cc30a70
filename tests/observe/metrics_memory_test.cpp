// Without memory: a constructor throws std::bad_alloc and registers nothing; what counts and records allocates nothing.

#include <roost/observe/metrics.hpp>

#include "counted_memory.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace {

using namespace roost;

// Fails each allocation of fn in turn. Returns how many there were.
template <class Fn>
long fail_each(Fn fn) {
    for (long n = 0;; ++n) {
        counted_memory::fail_after = n;
        bool thrown = false;
        try {
            fn();
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        const bool was_reached = counted_memory::fail_after < 0;
        counted_memory::fail_after = -1;
        if (!was_reached) {
            return n;
        }
        EXPECT_TRUE(thrown) << n;
    }
}

TEST(metrics_memory, OBS_167_a_constructor_without_memory_throws_and_a_later_one_works) {
    const metrics::registry in;
    EXPECT_GT(fail_each([&] { metrics::counter("a_total", "A.", in); }), 1);
    EXPECT_GT(fail_each([&] { metrics::histogram("b_seconds", "B.", metrics::buckets::seconds(), in); }), 1);
    const metrics::labelled<metrics::histogram> many("c_seconds", "C.", {"which"}, metrics::buckets::seconds(), in);
    EXPECT_GT(fail_each([&] { static_cast<void>(many.with({"a value too long for a short string, broken \xff"})); }), 1);
    EXPECT_GT(fail_each([&] { static_cast<void>(metrics::to_openmetrics(in)); }), 1);
    const metrics::counter a("a_total", "A.", in);
    a.add();
    EXPECT_EQ(a.value(), 1U);
}

TEST(metrics_memory, OBS_167_counting_and_recording_allocate_nothing) {
    const metrics::registry in;
    const metrics::counter a("a_total", "A.", in);
    const metrics::gauge b("b", "B.", in);
    const metrics::histogram c("c_seconds", "C.", metrics::buckets::seconds(), in);
    const metrics::labelled<metrics::counter> d("d_total", "D.", {"which"}, in);
    d.with({"known"}).add();
    for (int i = 0; i < 300; ++i) {
        const char name[] = {static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26), '\0'};
        d.with({name}).add();
    }
    const long before = counted_memory::allocations;
    a.add(2);
    a.add(1, metrics::exemplar("trace", "span"));
    b.set(1);
    b.add(2);
    c.record(0.5, metrics::exemplar("trace", "span"));
    c.record(std::chrono::milliseconds(5));
    d.with({"known"}).add();
    d.with({"beyond the limit"}).add();
    EXPECT_EQ(counted_memory::allocations, before);
}

}  // namespace
