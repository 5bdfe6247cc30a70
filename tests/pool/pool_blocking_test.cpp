// Threads that wait in line, among coroutines.

#include <roost/sync/detail/limits.hpp>
#include <roost/sync/detail/thread_waiter.hpp>

#include <gtest/gtest.h>

#include "../tree/tree_support.hpp"
#include "support.hpp"

#include <optional>

namespace {

using namespace pool_testing;
using roost::pool;
using roost::wait_status;

void wait_for_waiters(pool<thing>& p, std::uint32_t count) {
    while (p.stats().waiting != count) {
        roost::seam::yield_thread();
    }
}

// The thread comes for what was returned, finds it unfit, and lets it go; its place goes to the first coroutine. The thread
// then queues up behind the second, and must not still have the place in its hands.
TEST(pool_blocking, POOL_80_a_thread_whose_resource_was_unfit_queues_up_with_nothing_in_its_hands) {
    ledger l;
    roost::seam::atomic<bool> says_no{false};
    std::optional<pool<thing>> p(std::in_place, one_stripe(1), factory(l), undertaker(l),
                                 [&](thing&) { return !says_no.exchange(false, roost::seam::mo::acq_rel); });
    client holder(*p);
    roost::seam::atomic<int> got_id{0};
    roost::seam::thread sleeper([&] {
        auto got = p->acquire_blocking();
        got_id.store(got ? got->id : -1, roost::seam::mo::release);
    });
    wait_for_waiters(*p, 1);
    client b(*p);
    client c(*p);
    says_no.store(true, roost::seam::mo::release);
    holder.let_go();
    // Until b has made a new one, and c and the thread wait for it.
    while (p->stats().created != 2 || p->stats().waiting != 2) {
        if (got_id.load(roost::seam::mo::acquire) != 0) {
            ADD_FAILURE() << "the thread was given a place that another holder has";
            break;
        }
        roost::seam::yield_thread();
    }
    p->resize(1);  // by way of the queue's lock: what the thread did before it queued up is to be seen here
    EXPECT_LE(l.most_alive, 1) << "POOL-22";
    ASSERT_TRUE(b.done() && b.got());
    EXPECT_FALSE(c.done());
    b.let_go();
    EXPECT_TRUE(c.done() && c.got()) << "POOL-17: before the thread, which came back later";
    c.let_go();
    sleeper.join();
    EXPECT_EQ(got_id.load(roost::seam::mo::acquire), 2);
    EXPECT_LE(l.most_alive, 1);
    expect_conserved(*p, l);
}

TEST(pool_blocking, POOL_81_a_thread_that_waits_is_told_when_the_pool_is_destroyed) {
    ledger l;
    for (int round = 0; round < 200; ++round) {
        std::optional<pool<thing>> p(make_pool(l, one_stripe(1)));
        std::optional<client> holder(*p);
        pool<thing>& seen = *p;
        wait_status status = wait_status::ok;
        roost::seam::thread sleeper([&] {
            const auto got = seen.acquire_blocking("sleeper");
            status = got.status();
        });
        wait_for_waiters(*p, 1);
        p.reset();
        holder.reset();
        sleeper.join();
        EXPECT_EQ(status, wait_status::closed);
    }
    EXPECT_EQ(l.alive(), 0);
}

// However often a running thread acquires, a parked one gets a resource after a bounded number of returns.
TEST(pool_blocking, POOL_22_a_parked_thread_is_overtaken_a_bounded_number_of_times) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    roost::seam::atomic<bool> got{false};
    auto held = p.acquire_blocking();
    roost::seam::thread sleeper([&] {
        auto mine = p.acquire_blocking();
        got.store(true, roost::seam::mo::release);
    });
    wait_for_waiters(p, 1);
    int returns = 0;
    while (!got.load(roost::seam::mo::acquire) && returns < 100'000) {
        held.handle().give_back();
        ++returns;
        held = p.acquire_blocking();
    }
    EXPECT_TRUE(got.load(roost::seam::mo::acquire));
    EXPECT_LE(returns, roost::detail::thread_patience + 1);
    held.handle().give_back();
    sleeper.join();
}

// A thread that is called and does not come: a processor that it does not get.
class deaf_parker {
public:
    void unpark() noexcept { ++calls; }
    [[nodiscard]] bool park(roost::time_point) noexcept { return false; }
    void park() noexcept {}
    int calls = 0;
};
class deaf_thread : public roost::detail::basic_thread_waiter<deaf_parker, roost::detail::pool_waiter> {};

TEST(pool_blocking, POOL_22_a_thread_that_does_not_come_is_handed_what_it_waits_for_in_the_end) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    auto held = p.acquire_blocking();
    deaf_thread parked;
    ASSERT_TRUE(core_of(p).queue().enqueue(parked));
    int overtaken = 0;
    while (held && overtaken < 10'000) {
        held.handle().give_back();
        held = p.acquire_blocking(roost::now());
        overtaken += held ? 1 : 0;
    }
    EXPECT_EQ(overtaken, roost::detail::thread_patience) << "so often, then it is handed over";
    EXPECT_EQ(parked.given, roost::detail::gift::resource);
    core_of(p).pass_on(parked);
    parked.finish();
    expect_conserved(p, l);
}

TEST(pool_blocking, POOL_22_a_parked_thread_is_not_notified_while_nothing_is_idle) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    auto held = p.acquire_blocking();
    deaf_thread parked;
    ASSERT_TRUE(core_of(p).queue().enqueue(parked));
    core_of(p).queue().serve();
    EXPECT_FALSE(parked.is_notified);
    held.handle().give_back();
    EXPECT_TRUE(parked.is_notified);
    EXPECT_TRUE(core_of(p).queue().cancel(parked, roost::ext::claim::cancelled));
    parked.finish();
}

TEST(pool_blocking, POOL_22_after_that_it_is_also_given_the_right_to_create) {
    ledger l;
    roost::pool_options o = one_stripe(1);
    o.room = 2;
    auto p = make_pool(l, o);
    auto held = p.acquire_blocking();
    deaf_thread parked;
    ASSERT_TRUE(core_of(p).queue().enqueue(parked));
    for (int i = 0; i < roost::detail::thread_patience; ++i) {
        held.handle().give_back();
        held = p.acquire_blocking(roost::now());
        ASSERT_TRUE(held);
    }
    EXPECT_EQ(p.resize(2), 2U);
    EXPECT_EQ(parked.given, roost::detail::gift::permit);
    core_of(p).pass_on(parked);
    parked.finish();
    EXPECT_EQ(p.stats().free, 1U);
}

// What comes back is left idle for the parked thread, in any stripe, and has no holder until a thread takes it.
TEST(pool_blocking, POOL_40_what_waits_for_a_parked_thread_is_no_work) {
    auto root = tree_support::make_root();
    ledger l;
    roost::pool_options o(2, "striped");
    o.stripes = 2;
    o.parent = *root;
    auto p = make_pool(l, o);
    auto a = p.acquire_blocking();
    auto b = p.acquire_blocking();
    ASSERT_TRUE(a && b);
    deaf_thread parked;
    ASSERT_TRUE(core_of(p).queue().enqueue(parked));
    auto& first = a.handle().stripe() == 0 ? a : b;
    auto& second = a.handle().stripe() == 0 ? b : a;
    first.handle().give_back();
    EXPECT_TRUE(parked.is_notified);
    EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 1U);
    second.handle().give_back();
    EXPECT_EQ(p.stats().idle, 2U);
    EXPECT_FALSE(root->has_work());
    EXPECT_TRUE(core_of(p).queue().cancel(parked, roost::ext::claim::cancelled));
    parked.finish();
}

TEST(pool_blocking, POOL_85_every_form_of_acquire_names_its_holder) {
    ledger l;
    auto p = make_pool(l, one_stripe(1));
    const auto name = [&] { return p.holders().empty() ? std::string() : std::string(p.holders().at(0).name()); };
    {
        auto held = p.acquire_blocking("thread");
        EXPECT_EQ(name(), "thread");
    }
    {
        auto held = p.try_acquire("taker");
        EXPECT_EQ(name(), "taker");
    }
    p.clear_idle();
    {
        auto held = p.try_acquire_or_create("maker");
        EXPECT_EQ(name(), "maker");
    }
    std::string seen;
    EXPECT_TRUE(p.try_with("visitor", [&](thing&) { seen = name(); }));
    EXPECT_EQ(seen, "visitor");
    auto body = [](pool<thing>& from, const auto& who, std::string& out) -> fire {
        out = co_await from.with("guest", [&](thing&) { return who(); });
    };
    body(p, name, seen);
    EXPECT_EQ(seen, "guest");
    EXPECT_TRUE(p.try_with([&](thing&) { seen = name(); }));
    EXPECT_EQ(seen, "");
    EXPECT_NE(std::string(p.acquire_blocking().handle() ? "x" : ""), "") << "without a name, as before";
}

}  // namespace
