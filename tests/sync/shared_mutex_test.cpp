#include <roost/sync/shared_mutex.hpp>

#include "coroutines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using roost::shared_mutex;
using sync_testing::fire;
using sync_testing::owned;

static_assert(sizeof(shared_mutex) <= 40);

fire read_into(shared_mutex& m, std::vector<shared_mutex::shared_guard>& got) {
    auto held = co_await m.lock_shared();
    got.push_back(std::move(held));
}
fire write_into(shared_mutex& m, std::vector<shared_mutex::guard>& got) {
    auto held = co_await m.lock();
    got.push_back(std::move(held));
}

TEST(shared_mutex, SYNC_70_many_readers_or_one_writer) {
    shared_mutex m("table");
    {
        auto a = m.try_lock_shared();
        auto b = m.try_lock_shared();
        EXPECT_TRUE(a && b);
        EXPECT_EQ(m.readers_now(), 2U);
        EXPECT_FALSE(m.try_lock());
    }
    auto w = m.try_lock();
    EXPECT_TRUE(w);
    EXPECT_TRUE(m.is_locked());
    EXPECT_EQ(m.readers_now(), 0U);
    EXPECT_FALSE(m.try_lock_shared());
    EXPECT_FALSE(m.try_lock());
}

TEST(shared_mutex, SYNC_71_waiting_writer_holds_later_readers_back) {
    shared_mutex m;
    std::vector<shared_mutex::shared_guard> readers;
    std::vector<shared_mutex::guard> writers;
    read_into(m, readers);
    write_into(m, writers);
    read_into(m, readers);
    read_into(m, readers);
    EXPECT_EQ(readers.size(), 1U);
    EXPECT_EQ(m.waiters_now(), 3U);
    EXPECT_FALSE(m.try_lock_shared());
    readers.clear();
    EXPECT_EQ(writers.size(), 1U);
    EXPECT_TRUE(readers.empty());
    writers.clear();
    EXPECT_EQ(readers.size(), 2U) << "neighbouring readers are let in together";
}

TEST(shared_mutex, SYNC_72_cancelled_writer_lets_readers_pass) {
    shared_mutex m;
    std::vector<shared_mutex::shared_guard> readers;
    read_into(m, readers);
    owned writer = [](shared_mutex& mm) -> owned { auto held = co_await mm.lock(); }(m);
    read_into(m, readers);
    EXPECT_EQ(readers.size(), 1U);
    writer.destroy();
    EXPECT_EQ(readers.size(), 2U);
}

TEST(shared_mutex, SYNC_73_downgrade_lets_readers_in_but_no_writer) {
    shared_mutex m;
    auto w = m.try_lock();
    std::vector<shared_mutex::guard> writers;
    std::vector<shared_mutex::shared_guard> readers;
    read_into(m, readers);
    write_into(m, writers);
    auto r = w.downgrade();
    EXPECT_TRUE(r.owns_lock());
    EXPECT_FALSE(w.owns_lock());
    EXPECT_EQ(readers.size(), 1U);
    EXPECT_TRUE(writers.empty());
    r.unlock();
    readers.clear();
    EXPECT_EQ(writers.size(), 1U);
}

TEST(shared_mutex, SYNC_74_blocking_forms) {
    shared_mutex m;
    auto w = m.lock_blocking();
    EXPECT_FALSE(m.lock_shared_blocking(roost::now() + std::chrono::milliseconds(2)));
    EXPECT_FALSE(m.lock_blocking(roost::now() + std::chrono::milliseconds(2)));
    std::atomic<int> inside{0};
    std::thread a([&] {
        auto r = m.lock_shared_blocking();
        ++inside;
    });
    std::thread b([&] {
        auto r = m.lock_blocking();
        ++inside;
    });
    while (m.waiters_now() < 2) {
        std::this_thread::yield();
    }
    w.unlock();
    a.join();
    b.join();
    EXPECT_EQ(inside, 2);
    EXPECT_TRUE(m.try_lock());
}

TEST(shared_mutex_death, SYNC_75_misuse_is_named) {
    EXPECT_DEATH(
        {
            shared_mutex m("table");
            m.unlock();
        },
        "shared_mutex 'table'.*unlocked although no writer had locked it");
    EXPECT_DEATH(
        {
            shared_mutex m("table");
            m.unlock_shared();
        },
        "shared_mutex 'table'.*more often than it was taken");
    EXPECT_DEATH(
        {
            shared_mutex m("table");
            m.try_lock().release();
            m.unlock_shared();
        },
        "shared_mutex 'table'.*by a reader while a writer had locked it");
    EXPECT_DEATH(
        {
            shared_mutex m("table");
            m.try_lock().release();
            [](shared_mutex& mm) -> sync_testing::fire { auto r = co_await mm.lock_shared(); }(m);
            [](shared_mutex& mm) -> sync_testing::fire { auto w = co_await mm.lock(); }(m);
        },
        "shared_mutex 'table'.*destroyed while 2 waiters were still queued");
}

}  // namespace
