// The other half of scenario 13: allocations fail on one thread while two others use the same objects, and what says noexcept
// asks for no memory at all.

#include <roost/base/failure_sink.hpp>
#include <roost/pool/pool.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/auto_reset_event.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/latch.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/sync/semaphore.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/tree/callback.hpp>

#include "../runtime/fixture.hpp"
#include "failing_memory.hpp"
#include "quiet.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <thread>

namespace {

using namespace roost;
using namespace roost::ext;
using gauntlet::allocations;
using gauntlet::allocations_left;
using gauntlet::outstanding;

task<> count(std::atomic<long>& n) {
    n.fetch_add(1);
    co_return;
}

// What the three threads share.
struct shared {
    runtime rt{runtime_options().workers(1)};
    owned_scope root{rt, scope_options("shared").report_failures()};
    shutdown node{"shared"};
    pool<std::unique_ptr<int>> things{pool_options(2, "shared"), [] { return std::make_unique<int>(1); }};
    std::atomic<long> ran{0};
    ~shared() { root.close_blocking(); }
};
void use_all(shared& s, bool breaks) {
    s.root.launch("job", count(s.ran));
    const shutdown below = s.node.child("below");
    const guard inside = below.guard();
    const callback c(token(below.tree_node()), level::stop, s.rt.get_executor(), [] {});
    auto got = s.things.acquire_blocking();
    if (!got) {
        throw std::bad_alloc();  // its creation failed: said, not thrown
    }
    if (breaks) {
        got.handle().discard();
    }
}

// How many faults one pass took.
long fail_each(shared& s) {
    for (long n = 0; n < 200; ++n) {
        const long ran = s.ran.load();
        bool threw = false;
        allocations_left = n;
        try {
            use_all(s, true);
        } catch (const std::bad_alloc&) {
            threw = true;
        }
        const bool untouched = allocations_left >= 0;
        allocations_left = -1;
        EXPECT_TRUE(!threw || !untouched) << "failed without a fault";
        EXPECT_GE(s.ran.load(), ran);
        use_all(s, true);  // as if nothing had been
        if (untouched) {
            return n;
        }
    }
    ADD_FAILURE() << "does not come to an end";
    return 0;
}

long episode(std::atomic<long>& others) {
    shared s;
    std::atomic<bool> over{false};
    const auto noise = [&] {
        for (long i = 0; !over.load(); ++i) {
            use_all(s, i % 2 == 0);
            others.fetch_add(1);
        }
    };
    std::thread a(noise);
    std::thread b(noise);
    long faults = 0;
    std::thread failing([&] {
        for (int pass = 0; pass < 20; ++pass) {
            faults += fail_each(s);
        }
    });
    failing.join();
    over = true;
    a.join();
    b.join();
    const pool_stats now = s.things.stats();
    EXPECT_EQ(now.out + now.busy + now.waiting, 0U);
    EXPECT_EQ(now.idle + now.free, now.capacity);
    EXPECT_EQ(s.node.guard_count(), 0U);
    return faults;
}

TEST(gauntlet_faults, GAUNTLET_13_allocations_fail_while_others_use_the_same_objects) {
    const gauntlet::quiet q("scenario 13");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    std::atomic<long> others{0};
    long faults = 0;
    const auto on_its_own_thread = [&] { std::thread([&] { faults = episode(others); }).join(); };  // its cache goes with it
    for (int i = 0; i < 5; ++i) {
        on_its_own_thread();  // what is made once per process is made here; one of it only when threads meet
    }
    const long had = outstanding.load();
    for (int i = 0; i < 3; ++i) {
        on_its_own_thread();
        EXPECT_EQ(outstanding.load(), had) << "leaks";
    }
    EXPECT_GT(faults, 0);
    set_failure_sink(before);
    q.say("%ld faults beside %ld rounds of two other threads, none leaked, places and guards all back", faults,
          others.load());
}

class audit {
public:
    template <class Fn>
    void operator()(const char* name, Fn fn) {
        const long before = allocations;
        fn();
        EXPECT_EQ(allocations, before) << name << " asks for memory";
        ++tried_;
    }
    [[nodiscard]] int tried() const { return tried_; }

private:
    int tried_ = 0;
};

void sync_asks_for_nothing(audit& a) {
    event e("e");
    auto_reset_event tick("tick");
    semaphore s(2, "s");
    mutex m("m");
    latch l(1, "l");
    channel<int> c(2, "c");
    a("event::set", [&] { e.set(); });
    a("event::reset", [&] { e.reset(); });
    a("event::wait_blocking", [&] { static_cast<void>(e.wait_blocking(now())); });
    a("auto_reset_event::set", [&] { tick.set(); });
    a("auto_reset_event::try_wait", [&] { static_cast<void>(tick.try_wait()); });
    a("semaphore::try_acquire, permit::~permit", [&] { static_cast<void>(s.try_acquire()); });
    a("semaphore::add_permits", [&] { s.add_permits(1); });
    a("mutex::try_lock, guard::~guard", [&] { static_cast<void>(m.try_lock()); });
    a("latch::count_down", [&] { l.count_down(); });
    a("channel::try_send", [&] { static_cast<void>(c.try_send(1)); });
    a("channel::try_receive", [&] { static_cast<void>(c.try_receive()); });
    a("channel::close", [&] { c.close(); });
}

void the_rest_asks_for_nothing(audit& a) {
    runtime rt(runtime_options().workers(1));
    std::atomic<int> told{0};
    runtime_tests::call work([&] { told.fetch_add(1); });
    runtime_tests::test_timer timer([] {});
    timer.set_deadline(deadline_after(now(), std::chrono::hours(1)));
    a("runtime::post", [&] { EXPECT_TRUE(rt.post(work)); });
    a("timers::arm", [&] { EXPECT_TRUE(rt.timers().arm(timer)); });
    a("timers::disarm", [&] { EXPECT_TRUE(rt.timers().disarm(timer)); });
    while (told.load() == 0) {
        std::this_thread::yield();
    }
    pool<int> p(pool_options(2, "p"), [] { return 1; });
    auto one = p.try_acquire_or_create();
    auto two = p.try_acquire_or_create();
    a("pooled::give_back", [&] { one.handle().give_back(); });
    a("pooled::discard", [&] { two.handle().discard(); });
    a("pool::clear_idle", [&] { p.clear_idle(); });
    a("pool::resize", [&] { p.resize(1); });
    a("pool::close_blocking", [&] { EXPECT_TRUE(p.close_blocking()); });
    shutdown root("root");
    shutdown below = root.child("below");
    auto gone = std::make_unique<callback>(token(below.tree_node()), level::stop, rt.get_executor(), [] {});
    const callback stays(token(below.tree_node()), level::stop, rt.get_executor(), [&] { told.fetch_add(1); });
    a("shutdown::guard, guard::~guard", [&] { static_cast<void>(below.guard()); });
    a("shutdown, copied and dropped", [&] { const shutdown copy = below; });
    a("callback::~callback", [&] { gone.reset(); });
    a("shutdown::shut_down", [&] { root.shut_down(); });
    a("shutdown::cancel", [&] { root.cancel(); });
    a("shutdown::~shutdown", [&] { below = root; });
    event never;
    owned_scope jobs(rt, scope_options("jobs").report_failures());
    const job j = jobs.launch("waits", [](event& e) -> task<> { co_await e.wait(); }(never));
    a("job::cancel", [&] { j.cancel(); });
    a("owned_scope::close", [&] { jobs.request_close(); });
    a("owned_scope::join_blocking", [&] { jobs.close_blocking(); });
    while (told.load() < 2) {
        std::this_thread::yield();
    }
}

TEST(gauntlet_faults, GAUNTLET_13_what_says_noexcept_asks_for_no_memory) {
    const gauntlet::quiet q("scenario 13");
    audit first;
    sync_asks_for_nothing(first);
    the_rest_asks_for_nothing(first);
    q.say("%d functions that say noexcept, no allocation", first.tried());
}

}  // namespace
