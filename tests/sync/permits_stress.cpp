// Permits are handed over while those who wait give up, on real threads (SYNC-161).

#include <roost/sync/semaphore.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"
#include "stress_rounds.hpp"
#include "two_at_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <optional>

namespace {

using roost::semaphore;
using sync_testing::fire;
using sync_testing::full;
using sync_testing::held_operation;
using sync_testing::rounds;
using testing_support::two_at_once;

// Two permits are given back while the first in line gives up, with one behind that needs one: all are there at the end.
void permits_race(roost::ext::claim giving_up) {
    semaphore s(2);
    semaphore::permit held;
    roost::seam::plain<int> resumed{0};
    std::atomic<int> behind{0};
    using operation = held_operation<semaphore::operation>;
    std::optional<operation> first;
    bool gave_up = false;
    long wins = 0;
    two_at_once race([&](long) {
        held = s.try_acquire(2);
        resumed.set(0);
        behind = 0;
        first.emplace(s.acquire(2), resumed);
        [](semaphore& ss, std::atomic<int>& n) -> fire {
            auto mine = co_await ss.acquire();
            ++n;
        }(s, behind);
    });
    race.run(
        rounds(full), [&] { held.give_back(); }, [&] { gave_up = first->operation().try_cancel(giving_up); },
        [&] {
            ASSERT_EQ(resumed.get(), gave_up ? 0 : 1) << "given up or served, never both";
            first.reset();
            ASSERT_EQ(behind.load(), 1) << "and the next one is served either way";
            ASSERT_EQ(s.available(), 2U);
            ASSERT_EQ(s.waiters_now(), 0U);
            wins += gave_up ? 1 : 0;
        });
    std::printf("  %ld rounds, given up %ld times\n", rounds(full), wins);
}
TEST(permits_stress, SYNC_161_permits_race_cancel) { permits_race(roost::ext::claim::cancelled); }
TEST(permits_stress, SYNC_161_permits_race_deadline) { permits_race(roost::ext::claim::expired); }

// A thread's deadline passes while a permit is given back.
TEST(permits_stress, SYNC_161_permit_races_a_threads_deadline) {
    semaphore s(1);
    semaphore::permit held;
    long round = 0;
    long got = 0;
    two_at_once race([&](long i) {
        round = i;
        held = s.try_acquire();
    });
    race.run(
        rounds(20'000), [&] { held.give_back(); },
        [&] { got += s.acquire_blocking(1, roost::now() + std::chrono::nanoseconds(500 * (round % 16))) ? 1 : 0; },
        [&] {
            ASSERT_EQ(s.available(), 1U);
            ASSERT_EQ(s.waiters_now(), 0U);
        });
    std::printf("  acquired in time %ld times\n", got);
}

}  // namespace
