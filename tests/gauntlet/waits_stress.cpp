// Scenarios 1 to 4: waiters in great numbers, dropped, cancelled and woken at the same moment.

#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>

#include "../sync/coroutines.hpp"
#include "../sync/held_operation.hpp"
#include "quiet.hpp"
#include "two_at_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::seam;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::load;
using gauntlet::quiet;
using sync_testing::owned;

task<> wait_forever(event& e, counted, std::atomic<long>& resumed) {
    co_await e.wait();
    resumed.fetch_add(1);
}
task<> many_waiters(scope& s, event* events, long n, census& frames, std::atomic<long>& resumed, event& ready) {
    for (long i = 0; i < n; ++i) {
        s.launch("waiter", wait_forever(events[i % 64], counted(frames), resumed));
    }
    ready.set();
    co_await events[0].wait();
}
task<> run_many(event* events, long n, census& frames, std::atomic<long>& resumed, event& ready) {
    co_await with_scope(many_waiters, events, n, std::ref(frames), std::ref(resumed), std::ref(ready));
}

TEST(gauntlet_waits, GAUNTLET_1_TASK_35_a_million_waits_cancelled_from_a_foreign_thread) {
    const quiet q("scenario 1");
    const long n = load(1'000'000);
    census frames;
    std::atomic<long> resumed{0};
    {
        runtime rt(runtime_options().workers(2));
        std::vector<event> events(64);
        event ready;
        owned_scope root(rt, scope_options("root").report_failures());
        const job j = root.launch("many", run_many(events.data(), n, frames, resumed, ready));
        ready.wait_blocking();
        std::thread([&] { j.cancel(); }).join();
        root.close_blocking();
        EXPECT_EQ(j.state(), job_state::cancelled);
        for (event& e : events) {
            EXPECT_EQ(e.waiters_now(), 0U);
        }
    }
    EXPECT_GE(frames.made(), n);
    q.expect_none(frames, "frames");
    EXPECT_EQ(resumed.load(), 0);
    q.say("%ld tasks on 64 events cancelled, none resumed", n);
}

// A coroutine that waits for a permit and keeps it; the test can reach the operation.
class taker {
public:
    taker(semaphore& s, std::atomic<long>& got) : op_(s.acquire()) { coroutine_ = run(op_, got); }
    taker(const taker&) = delete;
    taker& operator=(const taker&) = delete;
    [[nodiscard]] bool try_cancel() { return op_.try_cancel(); }

private:
    class by_reference {
    public:
        explicit by_reference(semaphore::operation& o) noexcept : op_(&o) {}
        bool await_ready() { return op_->await_ready(); }
        bool await_suspend(std::coroutine_handle<owned::promise_type> h) noexcept { return op_->await_suspend(h); }
        semaphore::permit await_resume() { return op_->await_resume(); }

    private:
        semaphore::operation* op_;
    };
    static owned run(semaphore::operation& op, std::atomic<long>& got) {
        semaphore::permit p = co_await by_reference(op);
        p.release();
        got.fetch_add(1);
    }
    semaphore::operation op_;
    owned coroutine_;
};

TEST(gauntlet_waits, GAUNTLET_2_dropped_waiters_lose_no_permit_and_are_not_resumed) {
    const quiet q("scenario 2");
    constexpr std::uint32_t permits = 1000;
    const long waiters = load(10'000, 1000);
    const long rounds = load(100, 2);
    long dropped = 0;
    long served = 0;
    for (long round = 0; round < rounds; ++round) {
        semaphore s(permits);
        s.try_acquire(permits).release();
        std::atomic<long> got{0};
        std::deque<std::unique_ptr<taker>> all;
        for (long i = 0; i < waiters; ++i) {
            all.push_back(std::make_unique<taker>(s, got));
        }
        long gone = 0;
        // Window by window, so that neither is done before the other has begun; inside a window they race.
        constexpr std::uint32_t windows = 50;
        std::atomic<std::uint32_t> dropping{0};
        std::atomic<std::uint32_t> releasing{0};
        const auto enter = [](std::uint32_t window, std::atomic<std::uint32_t>& mine,
                              const std::atomic<std::uint32_t>& other) {
            mine = window;
            while (other.load() < window) {
                std::this_thread::yield();
            }
        };
        std::thread dropper([&] {
            for (std::uint32_t w = 1; w <= windows; ++w) {
                enter(w, dropping, releasing);
                const long end = waiters * w / windows;
                for (long i = waiters * (w - 1) / windows; i < end; ++i) {
                    auto& one = all[static_cast<std::size_t>(i)];
                    if (one->try_cancel()) {
                        one.reset();  // its frame too: resuming it now would be seen
                        ++gone;
                    }
                }
            }
        });
        for (std::uint32_t w = 1; w <= windows; ++w) {
            enter(w, releasing, dropping);
            for (std::uint32_t i = 0; i < permits / windows; ++i) {
                s.release();
            }
        }
        dropper.join();
        ASSERT_EQ(gone + got.load(), waiters);
        ASSERT_EQ(s.available() + static_cast<std::uint32_t>(got.load()), permits);
        all.clear();
        s.release(static_cast<std::uint32_t>(got.load()));
        ASSERT_EQ(s.available(), s.total());
        dropped += gone;
        served += got.load();
    }
    q.say("%ld rounds, %ld dropped, %ld served", rounds, dropped, served);
}

// The first of two waiters is cancelled while the permit is released: the second is always served.
TEST(gauntlet_waits, GAUNTLET_3_SYNC_161_release_races_cancel_of_the_head) {
    const quiet q("scenario 3");
    const long rounds = load(1'000'000);
    semaphore s(1);
    using operation = sync_testing::held_operation<semaphore::operation>;
    plain<int> first{0};
    std::atomic<int> second{0};
    semaphore::permit held;
    std::unique_ptr<operation> one;
    bool cancelled = false;
    long wins = 0;
    testing_support::two_at_once race([&](long) {
        held = s.try_acquire();
        first.set(0);
        second = 0;
        one = std::make_unique<operation>(s.acquire(), first);
        [](semaphore& ss, std::atomic<int>& n) -> sync_testing::fire {
            auto permit = co_await ss.acquire();
            ++n;
        }(s, second);
    });
    race.run(
        rounds, [&] { held.give_back(); }, [&] { cancelled = one->operation().try_cancel(); },
        [&] {
            ASSERT_EQ(first.get(), cancelled ? 0 : 1);
            ASSERT_EQ(second.load(), 1);
            ASSERT_EQ(s.available(), 1U);
            wins += cancelled ? 1 : 0;
        });
    one.reset();
    q.say("%ld rounds, cancel won %ld", rounds, wins);
}

// Waits, counts, and waits again.
owned waits_again(waiter_queue& queue, std::atomic<int>& woken) {
    for (;;) {
        co_await queue.wait_unless([] { return false; });
        woken.fetch_add(1);
    }
}

TEST(gauntlet_waits, GAUNTLET_4_wake_all_wakes_those_who_wait_and_nobody_later) {
    const quiet q("scenario 4");
    const long before = 10'000;
    const long rounds = load(50, 2);
    long late = 0;
    long joined = 0;
    for (long round = 0; round < rounds; ++round) {
        struct one {
            std::atomic<int> woken{0};
            bool came_after = false;
            owned coroutine;
        };
        waiter_queue queue("crowd");
        std::deque<one> early(static_cast<std::size_t>(before));
        for (one& w : early) {
            w.coroutine = waits_again(queue, w.woken);
        }
        std::atomic<bool> returned{false};
        std::atomic<long> after{0};
        std::deque<one> added[2];
        std::vector<std::thread> adders;
        std::atomic<int> going{0};
        for (auto& mine : added) {
            adders.emplace_back([&] {
                ++going;
                while (after.load() < 200 && mine.size() < 50'000) {
                    one& w = mine.emplace_back();
                    w.came_after = returned.load();
                    w.coroutine = waits_again(queue, w.woken);
                    after.fetch_add(w.came_after ? 1 : 0);
                }
            });
        }
        while (going.load() < 2) {}
        queue.wake_all();
        returned = true;
        for (std::thread& t : adders) {
            t.join();
        }
        for (const one& w : early) {
            ASSERT_EQ(w.woken.load(), 1) << "once, though it waits again";
        }
        for (const auto& mine : added) {
            for (const one& w : mine) {
                ASSERT_LE(w.woken.load(), w.came_after ? 0 : 1);
                (w.woken.load() == 1 ? joined : late) += 1;
            }
        }
        ASSERT_EQ(queue.size_approx(), early.size() + added[0].size() + added[1].size());
    }
    q.say("%ld rounds of %ld waiters woken once each; of those added meanwhile %ld too, %ld not", rounds, before, joined,
          late);
}

}  // namespace
