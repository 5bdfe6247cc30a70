// Scenarios 25 and 26: a pool whose resources cannot be had, and one that is closed in the middle of everything.

#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/task/driven.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>
#include <roost/task/timeout.hpp>
#include <roost/testing/virtual_time.hpp>

#include "../pool/support.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using namespace std::chrono_literals;
using gauntlet::census;
using gauntlet::counted;
using gauntlet::load;
using gauntlet::quiet;

class connection {
public:
    explicit connection(census& in) noexcept : alive_(in) {}
    long uses = 0;

private:
    counted alive_;
};

// What goes wrong while a connection is made: half of them, until the weather clears.
class weather {
public:
    explicit weather(census& c) : connections_(&c) {}
    task<connection> connect() {
        const unsigned dice = bad_.load() ? static_cast<unsigned>(random_u64() % 6) : 5;
        if (dice == 0) {
            throw std::runtime_error("refused");
        }
        if (dice == 1) {
            co_await sleep_for(1us);
            throw std::runtime_error("reset by peer");
        }
        if (dice == 2) {
            co_await clears_.wait();  // there is no answer
        }
        co_await yield();
        co_return connection(*connections_);
    }
    void clear() {
        bad_ = false;
        clears_.set();
    }

private:
    census* connections_;
    std::atomic<bool> bad_{true};
    event clears_{"clear sky"};
};

struct tally {
    std::atomic<long> served{0};
    std::atomic<long> failed{0};
    std::atomic<long> using_now{0};
    std::atomic<long> over{0};
    // Each stripe is one word, and places stay in theirs: also while others change it, the sum cannot be more.
    void look(const pool_stats& s) { over += s.idle + s.out + s.busy > s.capacity ? 1 : 0; }
};
// Counted by the clients themselves.
class user {
public:
    explicit user(tally& t) : tally_(&t) { t.over += t.using_now.fetch_add(1) >= 8 ? 1 : 0; }
    user(const user&) = delete;
    user& operator=(const user&) = delete;
    ~user() { tally_->using_now.fetch_sub(1); }

private:
    tally* tally_;
};

task<> client(pool<connection>& p, long checkouts, tally& t) {
    for (long i = 0; i < checkouts; ++i) {
        t.look(p.stats());
        auto got = co_await p.acquire("client");
        t.look(p.stats());
        if (!got) {
            t.failed += got.status() == wait_status::failed ? 1 : 0;
            continue;
        }
        ++t.served;
        {
            const user here(t);  // until it is given back, or destroyed
            ++got->uses;
            co_await yield();
        }
        if (i % 2 == 0) {
            got.handle().discard();
        }
    }
}

// Until it has one and seven others have one, too. Failures that were under way when the weather cleared may still come in.
task<> one_of_eight(pool<connection>& p, latch& all, tally& t) {
    for (;;) {
        auto got = co_await p.acquire("one of eight");
        if (got) {
            const user here(t);
            co_await all.arrive_and_wait();
            ++t.served;
            co_return;
        }
        ++t.failed;
        co_await sleep_for(10us);
    }
}

task<> in_time(pool<connection>& p, latch& all, tally& t) {
    static_cast<void>(co_await move_on_after(60s, one_of_eight(p, all, t)));
}

// Every request ends, and afterwards the whole capacity is there again.
void storm(executor& where, timer_service& timers, bool exact, long checkouts, tally& t, census& connections,
           const std::function<void()>& run) {
    weather w(connections);
    pool_options o(8, "storm");
    o.where = where;
    o.timers = &timers;
    o.exact_clock = exact;
    o.create_timeout = exact ? duration(1ms) : duration(200us);
    o.on_error = [](const pool_error&) {};
    pool<connection> p(o, [&] { return w.connect(); });
    {
        owned_scope root(where, scope_options("root").report_failures());
        for (int i = 0; i < 64; ++i) {
            root.launch("client", client(p, checkouts / 64, t));
        }
        root.request_close();
        run();
        root.close_blocking();
    }
    w.clear();
    run();
    tally after;
    latch all(8, "all eight");
    {
        owned_scope root(where, scope_options("root").report_failures());
        for (int i = 0; i < 8; ++i) {
            root.launch("one of eight", in_time(p, all, after));
        }
        root.request_close();
        run();
        root.close_blocking();
    }
    EXPECT_EQ(after.served.load(), 8) << "eight have one at the same time";
    EXPECT_EQ(after.over.load(), 0);
    pool_stats s = p.stats();
    for (int look = 0; s.busy != 0 && look < 10'000; ++look) {  // what was left alone comes to its end
        std::this_thread::sleep_for(1ms);
        s = p.stats();
    }
    EXPECT_EQ(s.waiting, 0U);
    EXPECT_EQ(s.out, 0U);
    EXPECT_EQ(s.free + s.idle, 8U);
    EXPECT_TRUE(exact || p.close_blocking());
}

TEST(gauntlet_pool, GAUNTLET_25_creations_that_fail_throw_or_never_end) {
    const quiet q("scenario 25");
    const long checkouts = load(100'000, 6400);
    census connections;
    tally calm;
    tally rough;
    {
        roost::testing::virtual_time clock(25);
        storm(clock, clock, true, checkouts, calm, connections, [&] { clock.run(); });
        clock.run();
    }
    {
        runtime rt(runtime_options().workers(2));
        storm(rt.get_executor(), rt.timers(), false, checkouts / 2, rough, connections, [] {});
        EXPECT_EQ(rough.served + rough.failed, checkouts / 2 / 64 * 64);
    }
    for (const tally* t : {&calm, &rough}) {
        EXPECT_EQ(t->over.load(), 0);
        EXPECT_EQ(t->using_now.load(), 0);
        EXPECT_GT(t->served.load(), 0);
        EXPECT_GT(t->failed.load(), 0);
    }
    EXPECT_EQ(calm.served + calm.failed, checkouts / 64 * 64);
    q.expect_none(connections, "connections");
    q.say("%ld checkouts served, %ld told why not; never more than 8 places in use, then all 8 at once",
          calm.served + rough.served, calm.failed + rough.failed);
}

// Made when the event says so.
class slow_creation {
public:
    struct state {
        event go{"go"};
        std::atomic<int> started{0};
        std::atomic<int> made{0};
    };
    explicit slow_creation(state& s) : state_(&s), wait_(s.go.wait()) { ++s.started; }
    bool await_ready() { return wait_.await_ready(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        return wait_.await_suspend(h);
    }
    pool_testing::thing await_resume() {
        wait_.await_resume();
        return pool_testing::thing(++state_->made);
    }

private:
    state* state_;
    event::operation wait_;
};

TEST(gauntlet_pool, GAUNTLET_26_closed_with_some_out_many_waiting_and_some_being_created) {
    const quiet q("scenario 26");
    const long waiters = 10'000;
    const long rounds = load(50, 1);
    long refused = 0;
    for (long round = 0; round < rounds; ++round) {
        slow_creation::state s;
        std::atomic<int> destroyed{0};
        pool_options o(12, "closing");
        pool<pool_testing::thing> p(o, [&] { return slow_creation(s); }, [&](pool_testing::thing&) { ++destroyed; });
        s.go.set();
        std::vector<std::unique_ptr<pool_testing::client>> out;
        for (int i = 0; i < 8; ++i) {
            out.push_back(std::make_unique<pool_testing::client>(p));
            ASSERT_TRUE(out.back()->done());
        }
        s.go.reset();
        std::vector<std::unique_ptr<pool_testing::client>> waiting;
        for (long i = 0; i < waiters; ++i) {
            waiting.push_back(std::make_unique<pool_testing::client>(p));
        }
        ASSERT_EQ(s.started.load(), 12);
        ASSERT_EQ(p.stats().busy, 4U);
        ASSERT_FALSE(p.close_blocking(now()));
        for (const auto& w : waiting) {
            ASSERT_TRUE(w->done());
            ASSERT_EQ(w->got().status(), wait_status::closed);
            ++refused;
        }
        std::thread returning([&] { out.clear(); });
        s.go.set();
        ASSERT_TRUE(p.close_blocking());
        returning.join();
        ASSERT_EQ(s.started.load(), 12) << "none begins after the close";
        ASSERT_EQ(destroyed.load(), s.made.load()) << "each once";
    }
    q.say("%ld rounds: %ld waiters told closed, 12 resources each destroyed once", rounds, refused);
}

}  // namespace
