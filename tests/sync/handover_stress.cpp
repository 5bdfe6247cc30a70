// Hand-over races cancel and deadline on real threads (SYNC-161 .. SYNC-163). Each hand-over gets its million rounds in optimised
// builds without sanitizers and 20 000 elsewhere (stress_rounds.hpp), times ROOST_STRESS_SCALE. In these a deadline is the claim that a timer makes;
// threads that sleep for theirs take as long as the kernel's timers do, and get 20 000.

#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/waiter_queue.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"
#include "stress_rounds.hpp"
#include "two_at_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

using roost::channel;
using roost::mutex;
using roost::semaphore;
using roost::waiter_queue;
using sync_testing::fire;
using sync_testing::full;
using sync_testing::held_operation;
using sync_testing::rounds;
using testing_support::two_at_once;

// A thread's deadline expires while the lock is handed over, with a coroutine behind it.
TEST(handover_stress, SYNC_161_lock_races_a_threads_deadline) {
    mutex m;
    mutex::guard held;
    long got = 0;
    std::atomic<int> behind{0};
    two_at_once race([&](long) {
        held = m.try_lock();
        behind = 0;
    });
    race.run(
        rounds(20'000),
        [&] {
            [](mutex& mm, std::atomic<int>& n) -> fire {
                auto mine = co_await mm.lock();
                ++n;
            }(m, behind);
            held.unlock();
        },
        [&] { got += m.lock_blocking(roost::now() + std::chrono::microseconds(5)) ? 1 : 0; },
        [&] {
            ASSERT_EQ(behind.load(), 1);
            ASSERT_FALSE(m.is_locked());
            ASSERT_EQ(m.waiters_now(), 0U);
        });
    std::printf("  locked in time %ld times\n", got);
}

// The lock is handed over while the first in line gives up, with another behind it: each of them gets it or has given up.
void lock_races(roost::ext::claim giving_up) {
    mutex m;
    mutex::guard held;
    roost::seam::plain<int> resumed{0};
    std::atomic<int> behind{0};
    using operation = held_operation<mutex::operation>;
    std::optional<operation> first;
    bool cancelled = false;
    long wins = 0;
    two_at_once race([&](long) {
        held = m.try_lock();
        resumed.set(0);
        behind = 0;
        first.emplace(m.lock(), resumed);
        [](mutex& mm, std::atomic<int>& n) -> fire {
            auto mine = co_await mm.lock();
            ++n;
        }(m, behind);
    });
    race.run(
        rounds(full), [&] { held.unlock(); }, [&] { cancelled = first->operation().try_cancel(giving_up); },
        [&] {
            ASSERT_EQ(resumed.get(), cancelled ? 0 : 1) << "cancelled or served, never both";
            first.reset();
            ASSERT_EQ(behind.load(), 1) << "and the next one is served either way";
            ASSERT_FALSE(m.is_locked());
            ASSERT_EQ(m.waiters_now(), 0U);
            wins += cancelled ? 1 : 0;
        });
    std::printf("  %ld rounds, given up %ld times\n", rounds(full), wins);
}
TEST(handover_stress, SYNC_161_lock_races_cancel) { lock_races(roost::ext::claim::cancelled); }
TEST(handover_stress, SYNC_161_lock_races_deadline) { lock_races(roost::ext::claim::expired); }

// A value is received while its sender is cancelled: it ends up in one place.
TEST(handover_stress, SYNC_161_value_races_cancel) {
    channel<std::unique_ptr<int>> c(0);
    std::unique_ptr<int> mine;
    roost::seam::plain<int> resumed{0};
    using operation = held_operation<channel<std::unique_ptr<int>>::send_operation>;
    std::optional<operation> sending;
    bool cancelled = false;
    long received = 0;
    long wins = 0;
    two_at_once race([&](long i) {
        mine = std::make_unique<int>(static_cast<int>(i));
        resumed.set(0);
        sending.emplace(c.send_from(mine), resumed);
    });
    race.run(
        rounds(full), [&] { received += c.try_receive() ? 1 : 0; }, [&] { cancelled = sending->operation().try_cancel(); },
        [&] {
            ASSERT_EQ(mine != nullptr, cancelled);
            ASSERT_EQ(resumed.get(), cancelled ? 0 : 1);
            received -= cancelled ? 0 : 1;
            ASSERT_EQ(received, 0);
            wins += cancelled ? 1 : 0;
        });
    std::printf("  %ld rounds, cancel won %ld times\n", rounds(full), wins);
}

// A value is sent while the receiver's deadline passes: received, or still with the sender.
TEST(handover_stress, SYNC_161_value_races_deadline) {
    channel<std::unique_ptr<int>> c(0);
    roost::seam::plain<int> resumed{0};
    using operation = held_operation<channel<std::unique_ptr<int>>::receive_operation>;
    std::optional<operation> receiving;
    std::unique_ptr<int> back;
    long round = 0;
    bool expired = false;
    long wins = 0;
    two_at_once race([&](long i) {
        round = i;
        resumed.set(0);
        back = nullptr;
        receiving.emplace(c.receive(), resumed);
    });
    race.run(
        rounds(full),
        [&] {
            auto sent = c.try_send(std::make_unique<int>(static_cast<int>(round)));
            if (!sent) {
                back = sent.take_back();
            }
        },
        [&] { expired = receiving->operation().try_cancel(roost::ext::claim::expired); },
        [&] {
            ASSERT_EQ(resumed.get(), expired ? 0 : 1) << "expired or served, never both";
            ASSERT_EQ(back != nullptr, expired) << "received or handed back, never both and never neither";
            receiving.reset();
            ASSERT_EQ(c.waiters_now() + c.size(), 0U);
            wins += expired ? 1 : 0;
        });
    std::printf("  %ld rounds, expired %ld times\n", rounds(full), wins);
}

// A thread that sends and a thread that receives meet, both with deadlines that are about to pass: the value is with one of them.
TEST(handover_stress, SYNC_161_value_races_two_threads_deadlines) {
    channel<std::unique_ptr<int>> c(0);
    long round = 0;
    std::unique_ptr<int> back;
    std::unique_ptr<int> got;
    long met = 0;
    two_at_once race([&](long i) {
        round = i;
        back = nullptr;
        got = nullptr;
    });
    const auto soon = [](long i) { return roost::now() + std::chrono::nanoseconds(200 * (i % 8)); };
    race.run(
        rounds(20'000),
        [&] {
            auto sent = c.send_blocking(std::make_unique<int>(static_cast<int>(round)), soon(round));
            if (!sent) {
                back = sent.take_back();
            }
        },
        [&] {
            if (auto value = c.receive_blocking(soon(round / 8))) {
                got = *std::move(value);
            }
        },
        [&] {
            ASSERT_NE(back == nullptr, got == nullptr) << "sent or handed back, never both and never neither";
            ASSERT_EQ(back != nullptr ? *back : *got, round);
            ASSERT_EQ(c.waiters_now() + c.size(), 0U);
            met += got != nullptr ? 1 : 0;
        });
    std::printf("  handed over %ld times\n", met);
}

// Two threads lock, two try with deadlines, coroutines come and go: the counter is exact at the end.
TEST(handover_stress, SYNC_161_everybody_at_once) {
    mutex m;
    semaphore s(2);
    long inside = 0;
    std::atomic<long> entered{0};
    std::atomic<int> using_two{0};
    const long count = rounds(30'000);
    const auto visit = [&](unsigned seed) {
        for (long i = 0; i < count; ++i) {
            seed = seed * 1664525U + 1013904223U;
            const unsigned what = seed >> 30U;
            if (what == 0) {
                auto held = m.lock_blocking();
                ++inside;
                ++entered;
            } else if (what == 1) {
                if (auto held = m.lock_blocking(roost::now() + std::chrono::microseconds(seed & 15U))) {
                    ++inside;
                    ++entered;
                }
            } else if (what == 2) {
                [](mutex& mm, long& n, std::atomic<long>& e) -> fire {
                    auto held = co_await mm.lock();
                    ++n;
                    ++e;
                }(m, inside, entered);
            } else {
                auto permit = s.acquire_blocking(1 + (seed & 1U), roost::now() + std::chrono::microseconds(seed & 31U));
                const int now = using_two += static_cast<int>(permit.count());
                EXPECT_LE(now, 2);
                using_two -= static_cast<int>(permit.count());
            }
        }
    };
    std::thread a(visit, 1U);
    std::thread b(visit, 2U);
    visit(3U);
    a.join();
    b.join();
    auto last = m.lock_blocking();
    EXPECT_EQ(inside, entered.load());
    EXPECT_EQ(s.available(), 2U);
    EXPECT_EQ(s.waiters_now(), 0U);
}

// 10 000 waiters dropped by one thread while another releases one permit at a time.
TEST(handover_stress, SYNC_162_dropped_while_being_woken) {
    constexpr int waiters = 10'000;
    const long repeats = rounds(5);
    for (long round = 0; round < repeats; ++round) {
        semaphore s(1);
        using operation = held_operation<semaphore::operation>;
        std::vector<std::unique_ptr<roost::seam::plain<int>>> resumed;
        std::vector<std::unique_ptr<operation>> all;
        auto held = s.try_acquire();
        for (int i = 0; i < waiters; ++i) {
            resumed.push_back(std::make_unique<roost::seam::plain<int>>(0));
            all.push_back(std::make_unique<operation>(s.acquire(), *resumed.back()));
        }
        std::atomic<bool> go{false};
        std::vector<char> dropped(waiters, 0);
        std::thread dropper([&] {
            while (!go.load()) {}
            for (int i = waiters - 1; i >= 0; --i) {
                if (all[static_cast<std::size_t>(i)]->operation().try_cancel()) {
                    all[static_cast<std::size_t>(i)]->coroutine().destroy();
                    dropped[static_cast<std::size_t>(i)] = 1;
                }
            }
        });
        go = true;
        held.give_back();  // each one served gives the permit to the next, until they meet the dropper
        dropper.join();
        long served = 0;
        long gone = 0;
        for (std::size_t i = 0; i < waiters; ++i) {
            ASSERT_EQ(resumed[i]->get() + dropped[i], 1) << "served or dropped, never both";
            served += resumed[i]->get();
            gone += dropped[i];
        }
        ASSERT_EQ(s.available(), 1U);
        ASSERT_EQ(s.waiters_now(), 0U);
        std::printf("  served %ld, dropped %ld\n", served, gone);
    }
}

// The same against one wake_all that hands chains to an executor: a waiter that was dropped first is not in them.
TEST(handover_stress, SYNC_162_dropped_while_everybody_is_woken) {
    class chains final : public roost::executor {
    public:
        chains() noexcept : executor(chains_t{}) {}
        bool post(roost::ext::work& w) noexcept override { return queue_.push(w), true; }
        void post_all(roost::ext::work_list& all) noexcept override { queue_.append(all); }
        void run_all() noexcept {
            while (roost::ext::work* w = queue_.pop()) {
                w->run();
            }
        }

    private:
        roost::ext::work_list queue_;
    };
    constexpr int waiters = 10'000;
    struct flag_waiter {
        explicit flag_waiter(waiter_queue& q) : wait(q, [] { return false; }) {}
        waiter_queue::operation<bool (*)()> wait;
        int runs = 0;
    };
    for (long round = rounds(20); round > 0; --round) {
        waiter_queue queue;
        chains executor;
        std::vector<std::unique_ptr<flag_waiter>> all;
        for (int i = 0; i < waiters; ++i) {
            auto& w = *all.emplace_back(std::make_unique<flag_waiter>(queue));
            const auto run = +[](roost::ext::work& node) noexcept {
                auto* self = static_cast<flag_waiter*>(static_cast<roost::ext::waiter&>(node).frame());
                self->wait.await_resume();
                ++self->runs;
            };
            ASSERT_TRUE(w.wait.start(roost::ext::resume_target(&w, run, executor)));
        }
        std::atomic<bool> go{false};
        int dropped = 0;
        std::thread dropper([&] {
            while (!go.load()) {}
            for (int i = 0; i < waiters; i += 1 + i % 3) {
                auto& w = all[static_cast<std::size_t>(waiters - 1 - i)];
                if (w->wait.try_cancel()) {
                    w->wait.await_resume();
                    w.reset();
                    ++dropped;
                }
            }
        });
        go = true;
        for (long k = round * 37 % 400; k > 0; --k) {
            roost::seam::spin_hint();
        }
        queue.wake_all();
        dropper.join();
        executor.run_all();
        int served = 0;
        for (const auto& w : all) {
            ASSERT_TRUE(w == nullptr || w->runs == 1);
            served += w == nullptr ? 0 : 1;
        }
        ASSERT_EQ(served + dropped, waiters) << "woken or dropped, never both";
        ASSERT_EQ(queue.size_approx(), 0U);
    }
}

// Everybody who queues up waits again at once: each wake_all releases each of them at most once.
TEST(handover_stress, SYNC_163_wake_all_while_others_keep_adding) {
    waiter_queue queue;
    constexpr int before = 10'000;
    std::atomic<long> first{0};
    std::atomic<long> second{0};
    for (int i = 0; i < before; ++i) {
        [](waiter_queue& q, std::atomic<long>& a, std::atomic<long>& b) -> fire {
            co_await q.wait_unless([] { return false; });
            ++a;
            co_await q.wait_unless([] { return false; });
            ++b;
        }(queue, first, second);
    }
    std::atomic<bool> stop{false};
    std::atomic<long> added{0};
    std::atomic<long> late{0};
    std::thread adder([&] {
        while (!stop.load()) {
            [](waiter_queue& q, std::atomic<long>& n) -> fire {
                co_await q.wait_unless([] { return false; });
                ++n;
            }(queue, late);
            ++added;
        }
    });
    while (added.load() < 100) {
        std::this_thread::yield();
    }
    queue.wake_all();
    EXPECT_EQ(first.load(), before);
    EXPECT_EQ(second.load(), 0) << "one wake_all never satisfies two waits";
    stop = true;
    adder.join();
    queue.wake_all();
    EXPECT_EQ(second.load(), before);
    EXPECT_EQ(late.load(), added.load());
    EXPECT_EQ(queue.size_approx(), 0U);
}

}  // namespace
