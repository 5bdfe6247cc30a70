// What happens to those who wait when places come, go, or cannot be given any more.

#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "../tree/tree_support.hpp"
#include "support.hpp"

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::event;
using roost::pool;
using roost::pool_options;
using roost::wait_status;
using roost::testing::virtual_time;

pool_options below(roost::detail::node& parent, std::uint32_t capacity, std::uint32_t stripes) {
    pool_options o(capacity, "below");
    o.stripes = stripes;
    o.parent = parent;
    return o;
}

// A resource destroyed for no waiter is no work of the node. When it has gone, the place is free, but the parent takes
// no more work.
TEST(pool_queue, POOL_41_waiters_are_notified_when_the_parent_has_closed) {
    auto root = tree_support::make_root();
    event gone;
    ledger l;
    pool<thing> p(below(*root, 1, 1), factory(l), [&](thing&) { return gone.wait(); });
    { client first(p); }
    EXPECT_EQ(p.clear_idle(), 1U);
    EXPECT_FALSE(root->has_work());
    client a(p);
    client b(p);
    EXPECT_FALSE(a.done() || b.done()) << "the place is not free yet";
    root->close();
    gone.set();
    ASSERT_TRUE(a.done() && b.done());
    EXPECT_EQ(a.got().status(), wait_status::stopped);
    EXPECT_EQ(b.got().status(), wait_status::stopped);
    EXPECT_EQ(p.stats().waiting, 0U);
    EXPECT_EQ(p.stats().free, 1U);
}

// The same with the parent open: the place goes to the first, and is counted from then on.
TEST(pool_queue, POOL_40_a_slot_without_holder_is_counted_when_a_waiter_gets_it) {
    auto root = tree_support::make_root();
    event gone;
    ledger l;
    pool<thing> p(below(*root, 1, 1), factory(l), [&](thing&) { return gone.wait(); });
    { client first(p); }
    EXPECT_EQ(p.clear_idle(), 1U);
    client a(p);
    EXPECT_FALSE(root->has_work());
    gone.set();
    ASSERT_TRUE(a.done() && a.got());
    EXPECT_TRUE(root->has_work());
    a.let_go();
    EXPECT_FALSE(root->has_work());
}

TEST(pool_queue, POOL_20_POOL_40_a_place_that_is_handed_on_is_counted_once) {
    auto root = tree_support::make_root();
    ledger l;
    auto p = make_pool(l, below(*root, 1, 1));
    client holder(p);
    client waits(p);
    holder.discard();
    ASSERT_TRUE(waits.done() && waits.got());
    EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 1U);
    waits.let_go();
    EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 0U);
    EXPECT_FALSE(root->has_work());
}

// A slot beyond the capacity is not handed to a waiter, and the unit that was entered for it is given back.
TEST(pool_queue, POOL_28_a_slot_retired_while_its_resource_is_destroyed_has_no_holder) {
    auto root = tree_support::make_root();
    event gone;
    ledger l;
    pool<thing> p(below(*root, 2, 2), factory(l), [&](thing&) { return gone.wait(); });
    auto a = p.try_acquire_or_create();
    auto b = p.try_acquire_or_create();
    ASSERT_TRUE(a && b);
    auto& kept = a.handle().stripe() == 0 ? a : b;  // the first stripe keeps its place
    auto& goes = a.handle().stripe() == 0 ? b : a;
    goes.handle().give_back();
    EXPECT_EQ(p.clear_idle(), 1U);
    client waits(p);
    EXPECT_FALSE(waits.done());
    EXPECT_EQ(p.resize(1), 1U);
    EXPECT_EQ(p.stats().over, 1U);
    gone.set();
    EXPECT_FALSE(waits.done());
    EXPECT_EQ(p.stats().over, 0U);
    EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 1U) << "for the stripe that has something out";
    kept.handle().give_back();
    ASSERT_TRUE(waits.done() && waits.got());
    waits.let_go();
    EXPECT_FALSE(root->has_work());
}

TEST(pool_queue, POOL_28_a_size_that_does_not_divide_evenly) {
    ledger l;
    pool_options o(2, "uneven");
    o.stripes = 2;
    o.room = 6;
    auto p = make_pool(l, o);
    EXPECT_EQ(p.resize(5), 5U);
    EXPECT_EQ(p.stats().capacity, 5U);
    std::vector<std::unique_ptr<client>> all;
    for (int i = 0; i < 5; ++i) {
        all.push_back(std::make_unique<client>(p));
        EXPECT_TRUE(all.back()->done());
    }
    client late(p);
    EXPECT_FALSE(late.done());
    EXPECT_EQ(p.resize(3), 3U);
    EXPECT_EQ(p.stats().capacity, 3U);
    EXPECT_EQ(p.stats().over, 2U);
    all.clear();
    EXPECT_TRUE(late.done());
    expect_conserved(p, l);
}

class suspended : public testing::Test {
protected:
    pool_options options(std::uint32_t capacity, std::uint32_t stripes = 1) {
        pool_options o(capacity, "suspended");
        o.stripes = stripes;
        o.where = time;
        o.timers = &time;
        o.exact_clock = true;
        o.backoff = roost::pool_options::create_backoff(1, 10s, 60s);
        return o;
    }
    virtual_time time;
    ledger l;
};

TEST_F(suspended, POOL_35_waiters_get_the_last_error_when_nothing_is_left_that_could_come_back) {
    {
        auto p = make_pool(l, options(2));
        client holder(p);
        l.fail_next = 1;
        client fails(p);
        EXPECT_EQ(fails.got().status(), wait_status::failed);
        client a(p);
        client b(p);
        EXPECT_FALSE(a.done() || b.done()) << "the one that is out may come back";
        holder.discard();
        time.run_ready();
        ASSERT_TRUE(a.done() && b.done());
        EXPECT_EQ(a.got().status(), wait_status::failed);
        EXPECT_EQ(b.got().status(), wait_status::failed);
        EXPECT_EQ(p.stats().free, 2U);
    }
    time.run();
}

TEST_F(suspended, POOL_82_POOL_40_a_pool_below_a_node_is_opened_again_too) {
    auto root = tree_support::make_root();
    {
        pool_options o = options(2);
        o.parent = *root;
        auto p = make_pool(l, o);
        client holder(p);
        l.fail_next = 1;
        client fails(p);
        client a(p);
        EXPECT_FALSE(a.done());
        time.advance(10s);
        EXPECT_TRUE(a.done() && a.got());
        EXPECT_EQ(roost::detail::tree_access::core_of(p.tree_node()).units(), 1U);
    }
    time.run();
    EXPECT_FALSE(root->has_work());
}

TEST_F(suspended, POOL_84_room_in_any_stripe_is_room) {
    {
        auto p = make_pool(l, options(2, 2));
        l.fail_next = 1;
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::failed);
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::failed) << "POOL-35: the last error, at once";
        EXPECT_EQ(l.made, 0);
    }
    time.run();
}

// An awaitable that gives a thing, or fails, at once.
struct instant {
    ledger* l;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    thing await_resume() const { return factory(*l)(); }
};

TEST_F(suspended, POOL_35_an_awaitable_create_is_not_begun_for_a_new_waiter) {
    {
        pool<thing> p(options(3), [this] { return instant{&l}; });
        client holder(p);
        time.run_ready();
        ASSERT_TRUE(holder.done() && holder.got());
        l.fail_next = 1;
        client fails(p);
        time.run_ready();
        ASSERT_TRUE(fails.done());
        client a(p);
        client b(p);
        time.run_ready();
        EXPECT_FALSE(a.done() || b.done());
        EXPECT_EQ(p.stats().busy, 0U) << "nothing is being created";
        time.advance(10s);
        EXPECT_TRUE(a.done() && a.got());
        EXPECT_TRUE(b.done() && b.got());
    }
    time.run();
}

TEST(pool_queue, POOL_31_a_creation_that_runs_for_each_waiter_is_enough) {
    event go;
    int begun = 0;
    struct slow {
        event* go;
        decltype(std::declval<event&>().wait()) wait = go->wait();
        bool await_ready() noexcept { return wait.await_ready(); }
        bool await_suspend(std::coroutine_handle<> h) noexcept { return wait.await_suspend(h); }
        thing await_resume() {
            wait.await_resume();
            return thing(1);
        }
    };
    pool<thing> p(one_stripe(2), [&] {
        ++begun;
        return slow{&go};
    });
    client a(p);
    EXPECT_EQ(begun, 1);
    p.resize(2);  // looks after those who wait
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(p.stats().free, 1U);
    go.set();
    EXPECT_TRUE(a.done() && a.got());
}

}  // namespace
