#include <roost/runtime/runtime.hpp>

#include "../gauntlet/quiet.hpp"
#include "fixture.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace {

using namespace runtime_tests;

double seconds() {
    const char* text = std::getenv("ROOST_STRESS_SECONDS");
    return text == nullptr ? 1.0 : std::atof(text);
}
time_point end_of_test() { return deadline_after(now(), std::chrono::duration<double>(seconds())); }
constexpr std::uint32_t scale = gauntlet::sanitized ? 10 : 1;

// Workers that sleep and wake all the time: a lost wake hangs.
TEST(runtime_stress, RUN_101_bursts_with_pauses_lose_no_wake) {
    for (const unsigned workers : {1U, 2U, 4U}) {
        runtime rt(runtime_options().workers(workers));
        std::mt19937 random(workers);
        const time_point end = end_of_test();
        while (now() < end) {
            const auto burst = static_cast<std::uint32_t>(1 + random() % 4);
            countdown done(burst * 3);
            std::vector<std::unique_ptr<call>> all;
            for (std::uint32_t i = 0; i < burst * 3; ++i) {
                all.push_back(nullptr);
            }
            for (std::uint32_t i = 0; i < burst; ++i) {
                all[i + burst] = std::make_unique<call>([&] { done.down(); });
                all[i + 2 * burst] = std::make_unique<call>([&] { done.down(); });
                all[i] = std::make_unique<call>([&, i] {
                    rt.post(*all[i + burst]);
                    rt.get_executor().post_last(*all[i + 2 * burst]);
                    done.down();
                });
            }
            for (std::uint32_t i = 0; i < burst; ++i) {
                rt.post(*all[i]);
            }
            done.wait();
            for (auto spin = random() % 2000; spin > 0; --spin) {
                spin_hint();
            }
        }
    }
}

// A tree of work, posted from the workers: everything is stolen.
TEST(runtime_stress, RUN_102_fork_join_on_many_workers) {
    for (const unsigned workers : {2U, 4U}) {
        runtime rt(runtime_options().workers(workers));
        const time_point end = end_of_test();
        std::uint64_t rounds = 0;
        while (now() < end) {
            constexpr std::size_t nodes = (1U << 12U) - 1;
            countdown done(static_cast<std::uint32_t>(nodes));
            std::vector<std::unique_ptr<call>> all(nodes);
            for (std::size_t i = 0; i < nodes; ++i) {
                all[i] = std::make_unique<call>([&, i] {
                    if (2 * i + 2 < nodes) {
                        rt.post(*all[2 * i + 1]);
                        rt.post(*all[2 * i + 2]);
                    }
                    done.down();
                });
            }
            rt.post(*all[0]);
            done.wait();
            ++rounds;
        }
        EXPECT_GT(rounds, 0U);
    }
}

// 10^6 timers armed and disarmed at random by four threads; what fires is never early, and every timer ends in one way.
TEST(runtime_stress, RUN_103_GAUNTLET_23_random_timers) {
    const gauntlet::quiet q("scenario 23");
    runtime rt(runtime_options().workers(2));
    constexpr int threads = 4;
    constexpr int each = 250000 / static_cast<int>(scale);
    atomic<std::uint64_t> fired{0};
    atomic<std::uint64_t> early{0};
    atomic<std::uint64_t> stopped{0};
    struct one : timer {
        one(atomic<std::uint64_t>& f, atomic<std::uint64_t>& e)
            : timer(+[](timer& t) noexcept {
                  auto& me = static_cast<one&>(t);
                  if (now() < me.deadline()) {
                      me.early->fetch_add(1, mo::relaxed);
                  }
                  me.fired->fetch_add(1, mo::relaxed);
              }),
              fired(&f),
              early(&e) {}
        atomic<std::uint64_t>* fired;
        atomic<std::uint64_t>* early;
    };
    std::vector<thread> owners;
    for (int n = 0; n < threads; ++n) {
        owners.emplace_back([&, n] {
            std::mt19937_64 random(static_cast<std::uint64_t>(n) + 1);
            std::vector<std::unique_ptr<one>> window(512);
            std::uint64_t mine = 0;
            for (int i = 0; i < each; ++i) {
                auto& slot = window[random() % window.size()];
                if (slot != nullptr) {
                    mine += rt.timers().disarm(*slot) ? 1 : 0;
                }
                slot = std::make_unique<one>(fired, early);
                slot->set_deadline(
                    deadline_after(now(), std::chrono::microseconds(static_cast<std::int64_t>(random() % 4000) - 500)));
                ASSERT_TRUE(rt.timers().arm(*slot));
            }
            for (auto& slot : window) {
                mine += slot != nullptr && rt.timers().disarm(*slot) ? 1 : 0;
            }
            stopped.fetch_add(mine, mo::relaxed);
        });
    }
    for (thread& t : owners) {
        t.join();
    }
    EXPECT_EQ(early.load(mo::relaxed), 0U);
    EXPECT_EQ(fired.load(mo::relaxed) + stopped.load(mo::relaxed),
              std::uint64_t{threads} * static_cast<std::uint64_t>(each));
    EXPECT_EQ(rt.shut_down().timers_left(), 0U);
    q.say("%d timers of %d threads: %llu fired, none early, %llu stopped", threads * each, threads,
          static_cast<unsigned long long>(fired.load(mo::relaxed)),
          static_cast<unsigned long long>(stopped.load(mo::relaxed)));
}

}  // namespace
