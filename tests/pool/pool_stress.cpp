// Real threads: nothing lost, nothing doubled, every waiter served.

#include <roost/base/atomic.hpp>
#include <roost/pool/pool.hpp>
#include <roost/testing/manual_executor.hpp>

#include <gtest/gtest.h>

#include "../sync/coroutines.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using roost::pool;
using roost::pool_options;
using roost::seam::atomic;
using roost::seam::thread;
namespace mo = roost::seam::mo;
using sync_testing::rounds;

struct counted {
    atomic<int>* inside;
    long uses = 0;
};

// Threads that acquire, sometimes give up, sometimes break what they got; creations that fail now and then.
void hammer(std::uint32_t capacity, std::uint32_t stripes, unsigned threads, long times) {
    atomic<int> inside{0};
    atomic<int> alive{0};
    atomic<int> too_many{0};
    atomic<long> served{0};
    pool_options o(capacity, "hammered");
    o.stripes = stripes;
    {
        pool<counted> p(
            o,
            [&] {
                if (roost::seam::random_u64() % 64 == 0) {
                    throw std::runtime_error("refused");
                }
                if (alive.fetch_add(1, mo::relaxed) >= static_cast<int>(capacity)) {
                    too_many.fetch_add(1, mo::relaxed);
                }
                return counted{&inside};
            },
            [&](counted&) { alive.fetch_sub(1, mo::relaxed); });
        const auto body = [&] {
            for (long i = 0; i < times; ++i) {
                const std::uint64_t chance = roost::seam::random_u64();
                auto got = chance % 8 == 0 ? p.acquire_blocking(roost::now() + roost::duration(chance % 3000))
                                           : p.acquire_blocking();
                if (!got) {
                    continue;
                }
                served.fetch_add(1, mo::relaxed);
                if (inside.fetch_add(1, mo::relaxed) >= static_cast<int>(capacity)) {
                    too_many.fetch_add(1, mo::relaxed);
                }
                ++got->uses;
                inside.fetch_sub(1, mo::relaxed);
                if (chance % 16 == 1) {
                    got.handle().discard();
                }
            }
        };
        std::vector<thread> all;
        for (unsigned i = 0; i < threads; ++i) {
            all.emplace_back(body);
        }
        for (thread& t : all) {
            t.join();
        }
        EXPECT_EQ(too_many.load(mo::relaxed), 0) << "POOL-22";
        const roost::pool_stats s = p.stats();
        EXPECT_EQ(s.out + s.busy + s.waiting, 0U);
        EXPECT_EQ(static_cast<int>(s.idle), alive.load(mo::relaxed));
        EXPECT_TRUE(p.close_blocking());
    }
    EXPECT_EQ(alive.load(mo::relaxed), 0);
    EXPECT_GT(served.load(mo::relaxed), 0);
}

TEST(pool_stress, POOL_22_one_resource_two_threads) { hammer(1, 1, 2, rounds(40'000)); }
TEST(pool_stress, POOL_22_two_resources_four_threads) { hammer(2, 2, 4, rounds(20'000)); }
TEST(pool_stress, POOL_22_twenty_resources_four_threads) { hammer(20, 2, 4, rounds(40'000)); }

sync_testing::hosted wanders(roost::executor&, pool<counted>& p, long times, atomic<long>& done) {
    for (long i = 0; i < times; ++i) {
        auto got = co_await p.acquire();
        if (got) {
            ++got->uses;
        }
    }
    done.fetch_add(1, mo::relaxed);
}

// Coroutines on two executors, handed to across threads.
TEST(pool_stress, POOL_17_coroutines_on_two_threads) {
    atomic<int> inside{0};
    pool_options o(2, "shared");
    o.stripes = 2;
    pool<counted> p(o, [&] { return counted{&inside}; });
    const long times = rounds(10'000);
    atomic<long> done{0};
    const auto body = [&] {
        roost::testing::manual_executor where;
        atomic<long> mine{0};
        std::vector<sync_testing::hosted> all;
        for (int i = 0; i < 4; ++i) {
            all.push_back(wanders(where, p, times, mine));
        }
        where.run_until_waiting([&] { return mine.load(mo::relaxed) == 4; });
        done.fetch_add(mine.load(mo::relaxed), mo::relaxed);
    };
    thread other(body);
    body();
    other.join();
    EXPECT_EQ(done.load(mo::relaxed), 8);
    EXPECT_EQ(p.stats().out, 0U);
    EXPECT_LE(p.stats().created, 2U);
}

}  // namespace
