// The blocking form of every primitive on the portable parker, which no preset chooses: sync_portable_test compiles this file
// and the layer with ROOST_PORTABLE_PARKER. Each is let through by another thread again and again, and each expires.

#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/barrier.hpp>
#include <roost/sync/broadcast.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/condition.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/once.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/sync/shared_mutex.hpp>
#include <roost/sync/waiter_queue.hpp>
#include <roost/sync/watch.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

namespace {

using namespace roost;  // NOLINT: every primitive is named here

static_assert(std::is_same_v<detail::parker, detail::portable_parker>);

constexpr int rounds = 200;

time_point soon() { return now() + std::chrono::milliseconds(1); }

// `other` runs in a thread of its own once a thread waits on what `waiters` counts, or has passed already.
template <class Waiters, class Block, class Other>
void let_through(Waiters waiters, Block block, Other other) {
    std::atomic<bool> passed{false};
    std::thread waking([&] {
        while (waiters() == 0 && !passed.load()) {
            std::this_thread::yield();
        }
        other();
    });
    block();
    passed = true;
    waking.join();
}

TEST(portable_parker_blocking, SYNC_14_waiter_queue) {
    waiter_queue q;
    std::atomic<bool> ready{false};
    const auto is_ready = [&] { return ready.load(); };
    EXPECT_FALSE(q.wait_blocking(is_ready, soon()));
    for (int i = 0; i < rounds; ++i) {
        ready = false;
        let_through([&] { return q.size_approx(); }, [&] { EXPECT_TRUE(q.wait_blocking(is_ready)); },
                    [&] {
                        ready = true;
                        q.wake_all();
                    });
    }
}

TEST(portable_parker_blocking, SYNC_44_events) {
    event e;
    EXPECT_FALSE(e.wait_blocking(soon()));
    auto_reset_event a;
    EXPECT_FALSE(a.wait_blocking(soon()));
    for (int i = 0; i < rounds; ++i) {
        let_through([&] { return e.waiters_now(); }, [&] { e.wait_blocking(); }, [&] { e.set(); });
        EXPECT_TRUE(e.reset());
        let_through([&] { return a.waiters_now(); }, [&] { a.wait_blocking(); }, [&] { a.set(); });
    }
}

TEST(portable_parker_blocking, SYNC_93_latch_and_its_destruction) {
    latch late(9);
    EXPECT_FALSE(late.wait_blocking(soon()));
    EXPECT_FALSE(late.arrive_and_wait_blocking(soon()));
    for (int i = 0; i < rounds; ++i) {
        auto l = std::make_unique<latch>(2U);
        std::thread other([raw = l.get()] { raw->arrive_and_wait_blocking(); });
        l->arrive_and_wait_blocking();
        l.reset();
        other.join();
    }
}

TEST(portable_parker_blocking, SYNC_105_barrier) {
    barrier b(2);
    int shared = 0;
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            b.arrive_and_wait_blocking();
            ++shared;
            b.arrive_and_wait_blocking();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        b.arrive_and_wait_blocking();
        b.arrive_and_wait_blocking();
        EXPECT_EQ(shared, i + 1);
    }
    other.join();
    EXPECT_FALSE(b.arrive_and_wait_blocking(soon()));
}

TEST(portable_parker_blocking, SYNC_25_locks) {
    mutex m;
    shared_mutex s;
    semaphore p(1);
    long inside[3] = {};
    const auto visit = [&] {
        for (int i = 0; i < rounds * 20; ++i) {
            const auto held = m.lock_blocking();
            ++inside[0];
            const auto writing = s.lock_blocking();
            ++inside[1];
            const auto permit = p.acquire_blocking();
            ++inside[2];
            std::this_thread::yield();
        }
    };
    std::thread a(visit);
    std::thread b(visit);
    a.join();
    b.join();
    EXPECT_EQ(inside[0] + inside[1] + inside[2], 3L * 2 * 20 * rounds);
    const auto held = m.try_lock();
    EXPECT_FALSE(m.lock_blocking(soon()));
    const auto reading = s.lock_shared_blocking();
    EXPECT_FALSE(s.lock_blocking(soon()));
    const auto permit = p.try_acquire();
    EXPECT_FALSE(p.acquire_blocking(1, soon()));
}

TEST(portable_parker_blocking, SYNC_24_handed_over_while_parked) {
    mutex m;
    for (int i = 0; i < rounds; ++i) {
        auto held = m.try_lock();
        let_through([&] { return m.waiters_now(); }, [&] { EXPECT_TRUE(m.lock_blocking()); }, [&] { held.unlock(); });
    }
}

TEST(portable_parker_blocking, SYNC_126_condition) {
    mutex m;
    condition c;
    int value = 0;
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            auto held = m.lock_blocking();
            c.wait_blocking(held, [&] { return value == 1; });
            value = 0;
            c.notify_one();
        }
    });
    auto held = m.lock_blocking();
    for (int i = 0; i < rounds; ++i) {
        value = 1;
        c.notify_one();
        c.wait_blocking(held, [&] { return value == 0; });
    }
    EXPECT_FALSE(c.wait_blocking(held, soon()));
    held.unlock();
    other.join();
}

TEST(portable_parker_blocking, SYNC_114_once) {
    for (int i = 0; i < rounds; ++i) {
        once o;
        auto mine = std::make_optional(o.try_enter());
        let_through([&] { return o.waiters_now(); }, [&] { EXPECT_FALSE(o.enter_blocking().is_mine()); },
                    [&] { mine->done(); });
    }
    once busy;
    auto mine = busy.try_enter();
    EXPECT_FALSE(busy.call_blocking([] {}, soon()));
}

TEST(portable_parker_blocking, SYNC_136_channel) {
    channel<int> c(1);
    EXPECT_FALSE(c.receive_blocking(soon()));
    std::thread other([&] {
        for (int i = 0; i < rounds * 10; ++i) {
            EXPECT_TRUE(c.send_blocking(i));
        }
    });
    for (int i = 0; i < rounds * 10; ++i) {
        EXPECT_EQ(*c.receive_blocking(), i);
    }
    other.join();
    EXPECT_TRUE(c.try_send(1));
    EXPECT_FALSE(c.send_blocking(2, soon()));
}

TEST(portable_parker_blocking, SYNC_144_broadcast_and_watch) {
    broadcast<int> b(1);
    auto subscriber = b.subscribe();
    EXPECT_FALSE(subscriber.receive_blocking(soon()));
    watch<int> w(0);
    auto observer = w.observe();
    EXPECT_FALSE(observer.changed_blocking(soon()));
    for (int i = 1; i <= rounds; ++i) {
        let_through([&] { return b.waiters_now(); }, [&] { EXPECT_EQ(*subscriber.receive_blocking(), i); },
                    [&] { b.send(i); });
        let_through([&] { return w.waiters_now(); }, [&] { EXPECT_TRUE(observer.changed_blocking()); }, [&] { w.set(i); });
        EXPECT_EQ(observer.get(), i);
    }
}

}  // namespace
