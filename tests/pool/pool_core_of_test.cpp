// Creations and destructions that take their time: awaitable create and destroy, timeouts, backoff (virtual time).

#include <roost/sync/event.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <vector>

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::event;
using roost::pool;
using roost::pool_options;
using roost::wait_status;
using roost::testing::virtual_time;

// An awaitable that ends when the test says so.
class slow {
public:
    struct state {
        event go;
        bool fails = false;
        int started = 0;
        int id = 0;
    };
    explicit slow(state& s) noexcept : state_(&s), wait_(s.go.wait()) {}
    slow(slow&&) noexcept = default;
    bool await_ready() noexcept {
        ++state_->started;
        return wait_.await_ready();
    }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    thing await_resume() {
        wait_.await_resume();
        if (state_->fails) {
            throw std::runtime_error("no route to host");
        }
        return thing(++state_->id);
    }

private:
    state* state_;
    decltype(std::declval<event&>().wait()) wait_;
};

TEST(pool_core_of, POOL_31_the_pool_drives_an_awaitable_create) {
    slow::state s;
    pool<thing> p(one_stripe(2), [&] { return slow(s); });
    client a(p);
    EXPECT_FALSE(a.done());
    EXPECT_EQ(p.stats().busy, 1U);
    s.go.set();
    ASSERT_TRUE(a.done());
    EXPECT_EQ(a.got()->id, 1);
    EXPECT_EQ(p.stats().out, 1U);
}

TEST(pool_core_of, POOL_32_a_cancelled_acquire_leaves_its_creation_running_and_the_resource_is_kept) {
    slow::state s;
    pool<thing> p(one_stripe(1), [&] { return slow(s); });
    client a(p);
    EXPECT_TRUE(a.cancel());
    EXPECT_EQ(p.stats().busy, 1U);
    s.go.set();
    EXPECT_FALSE(a.done());
    EXPECT_EQ(p.stats().idle, 1U) << "kept for the next acquire";
    EXPECT_TRUE(p.try_acquire());
}

TEST(pool_core_of, POOL_32_a_creation_whose_acquire_was_cancelled_serves_the_next) {
    slow::state s;
    pool<thing> p(one_stripe(1), [&] { return slow(s); });
    client a(p);
    client b(p);
    EXPECT_TRUE(a.cancel());
    s.go.set();
    EXPECT_TRUE(b.done() && b.got());
    EXPECT_EQ(s.started, 1);
}

TEST(pool_core_of, POOL_21_the_waiter_gets_the_error_and_the_right_moves_on) {
    slow::state s;
    s.fails = true;
    pool<thing> p(one_stripe(1), [&] { return slow(s); });
    client a(p);
    client b(p);
    client c(p);
    s.go.set();  // every creation fails at once from now on
    EXPECT_EQ(a.got().status(), wait_status::failed);
    EXPECT_EQ(b.got().status(), wait_status::failed);
    EXPECT_EQ(c.got().status(), wait_status::failed);
    EXPECT_EQ(s.started, 3);
    EXPECT_EQ(p.stats().free, 1U);
    s.fails = false;
    client d(p);
    EXPECT_TRUE(d.got());
}

TEST(pool_core_of, POOL_21_a_returned_resource_is_not_kept_back_by_another_failure) {
    slow::state s;
    pool<thing> p(one_stripe(2), [&] { return slow(s); });
    s.go.set();
    client a(p);
    s.go.reset();
    s.fails = true;
    client b(p);  // a creation runs for b
    client c(p);  // nothing is free for c
    a.let_go();
    EXPECT_TRUE(b.done() && b.got()) << "the first in line gets what comes first";
    EXPECT_FALSE(c.done());
    s.go.set();
    EXPECT_EQ(c.got().status(), wait_status::failed) << "the right went to c, whose creation failed";
    EXPECT_EQ(p.stats().create_failures, 2U);
}

TEST(pool_core_of, POOL_21_ten_thousand_failures_in_a_row_need_no_stack) {
    slow::state s;
    s.fails = true;
    pool<thing> p(one_stripe(1), [&] { return slow(s); });
    std::vector<std::unique_ptr<client>> all;
    for (int i = 0; i < 10'000; ++i) {
        all.push_back(std::make_unique<client>(p));
    }
    s.go.set();
    for (const auto& c : all) {
        ASSERT_TRUE(c->done());
    }
}

TEST(pool_core_of, POOL_33_create_timeout_frees_the_place_and_a_late_resource_is_destroyed) {
    virtual_time time;
    slow::state s;
    int destroyed = 0;
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.create_timeout = 5s;
    {
        pool<thing> p(o, [&] { return slow(s); }, [&](thing&) { ++destroyed; });
        client a(p);
        client b(p);
        time.advance(4s);
        EXPECT_FALSE(a.done());
        time.advance(1s);
        ASSERT_TRUE(a.done());
        EXPECT_EQ(a.got().status(), wait_status::failed);
        EXPECT_EQ(s.started, 2) << "the right to create went to b";
        EXPECT_EQ(p.stats().busy, 1U);
        EXPECT_EQ(p.stats().abandoned, 1U);
        s.go.set();
        time.run_ready();
        EXPECT_TRUE(b.done() && b.got());
        EXPECT_EQ(destroyed, 1) << "the late one";
        b.let_go();
        EXPECT_EQ(p.stats().idle, 1U);
    }
    time.run();
    EXPECT_EQ(destroyed, 2);
}

TEST(pool_core_of, POOL_34_a_peer_that_never_answers_cannot_pin_a_place_on_return) {
    virtual_time time;
    event never;
    ledger l;
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.destroy_timeout = 3s;
    {
        pool<thing> p(o, factory(l), [&](thing&) { return never.wait(); });
        client a(p);
        client b(p);
        a.discard();
        time.advance(2s);
        EXPECT_FALSE(b.done()) << "live plus creating never exceeds the capacity";
        time.advance(1s);
        ASSERT_TRUE(b.done());
        EXPECT_TRUE(b.got());
        EXPECT_EQ(p.stats().abandoned, 1U);
        EXPECT_EQ(p.stats().out, 1U);
    }
    never.set();
    time.run();
}

TEST(pool_core_of, POOL_35_backoff_suspends_creating_and_tries_again) {
    virtual_time time;
    ledger l;
    l.fail_next = 3;
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.backoff = roost::pool_options::create_backoff(2, 10s, 60s);
    {
        auto p = make_pool(l, o);
        for (int i = 0; i < 2; ++i) {
            client c(p);
            EXPECT_EQ(c.got().status(), wait_status::failed);
        }
        EXPECT_EQ(l.fail_next, 1);
        client refused(p);
        EXPECT_EQ(refused.got().status(), wait_status::failed) << "at once, without trying";
        EXPECT_EQ(l.fail_next, 1);
        time.skip(10s);
        client tries(p);
        EXPECT_EQ(tries.got().status(), wait_status::failed);
        EXPECT_EQ(l.fail_next, 0) << "tried again";
        time.skip(19s);
        client still(p);
        EXPECT_EQ(still.got().status(), wait_status::failed) << "twice as long";
        time.skip(1s);
        client works(p);
        EXPECT_TRUE(works.got());
        works.let_go();
    }
    time.run();
}

pool_options suspending(virtual_time& time, std::uint32_t capacity) {
    pool_options o = one_stripe(capacity);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.backoff = roost::pool_options::create_backoff(1, 10s, 60s);
    return o;
}

TEST(pool_core_of, POOL_82_waiters_are_served_when_the_suspension_ends) {
    virtual_time time;
    ledger l;
    {
        auto p = make_pool(l, suspending(time, 10));
        client holder(p);
        l.fail_next = 1;
        client fails(p);
        EXPECT_EQ(fails.got().status(), wait_status::failed);
        client a(p);
        client b(p);
        client c(p);
        EXPECT_FALSE(a.done()) << "the one that is out may come back";
        EXPECT_EQ(time.armed_timers(), 1U);
        time.advance(9s);
        EXPECT_FALSE(a.done());
        time.advance(1s);
        EXPECT_TRUE(a.done() && a.got());
        EXPECT_TRUE(b.done() && b.got());
        EXPECT_TRUE(c.done() && c.got());
        EXPECT_EQ(p.stats().out, 4U);
        EXPECT_EQ(time.armed_timers(), 0U);
    }
    time.run();
    EXPECT_EQ(l.alive(), 0);
}

TEST(pool_core_of, POOL_82_a_suspension_that_is_prolonged_is_waited_for_again) {
    virtual_time time;
    ledger l;
    {
        auto p = make_pool(l, suspending(time, 10));
        client holder(p);
        l.fail_next = 2;
        client fails(p);
        client a(p);
        client b(p);
        time.advance(10s);  // tried for both: the first fails, the second does not
        ASSERT_TRUE(a.done() && b.done());
        EXPECT_NE(static_cast<bool>(a.got()), static_cast<bool>(b.got()));
        l.fail_next = 1;
        client again(p);
        client c(p);
        EXPECT_FALSE(c.done());
        holder.let_go();
        EXPECT_TRUE(c.done() && c.got()) << "what comes back goes to the first";
        client d(p);
        EXPECT_FALSE(d.done());
    }
    time.run();
    EXPECT_EQ(l.alive(), 0);
    EXPECT_EQ(time.armed_timers(), 0U) << "nobody waits for the end of it any more";
}

// Without timers the next acquire or return serves the waiters.
TEST(pool_core_of, POOL_82_without_timers_an_arrival_or_a_return_looks) {
    ledger l;
    for (const bool by_return : {false, true}) {
        pool_options o = one_stripe(10);
        o.backoff = roost::pool_options::create_backoff(1, 2ms, 2ms);
        auto p = make_pool(l, o);
        client holder(p);
        l.fail_next = 1;
        client fails(p);
        EXPECT_EQ(fails.got().status(), wait_status::failed);
        client a(p);
        client b(p);
        if (a.done()) {
            continue;  // a slow machine: the suspension was over before they came
        }
        const roost::time_point until = roost::seam::coarse_now() + 3ms;
        while (roost::seam::coarse_now() < until) {
            roost::seam::yield_thread();
        }
        if (by_return) {
            holder.let_go();
            EXPECT_TRUE(a.done() && b.done()) << "the first got it, and the places that are free serve the rest";
        } else {
            client c(p);
            EXPECT_TRUE(a.done() && b.done() && c.done());
        }
    }
}

TEST(pool_core_of, POOL_84_a_failed_awaitable_creation_names_its_stripe) {
    slow::state s;
    s.fails = true;
    pool<thing> p(one_stripe(1), [&] { return slow(s); });
    client a(p);
    s.go.set();
    try {
        static_cast<void>(std::move(a.got()).value());
        FAIL();
    } catch (const roost::pool_error& e) {
        EXPECT_EQ(e.stripe(), 0);
        EXPECT_EQ(e.operation(), roost::pool_error::step::create);
        EXPECT_EQ(e.code(), roost::errc::broken);
        EXPECT_NE(std::string(e.what()).find("stripe 0: create: no route to host"), std::string::npos) << e.what();
    }
}

TEST(pool_core_of, POOL_84_a_creation_past_its_limit_is_an_error_that_says_timed_out) {
    virtual_time time;
    slow::state s;
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.create_timeout = 5s;
    {
        pool<thing> p(o, [&] { return slow(s); });
        client a(p);
        time.advance(5s);
        ASSERT_EQ(a.got().status(), wait_status::failed);
        try {
            static_cast<void>(std::move(a.got()).value());
            FAIL();
        } catch (const roost::pool_error& e) {
            EXPECT_EQ(e.code(), roost::errc::timed_out);
            EXPECT_EQ(e.stripe(), 0);
            EXPECT_EQ(std::string(e.what()).find("pool 'test pool', stripe 0: create: took longer"), 0U) << e.what();
        }
    }
    s.go.set();
    time.run();
}

TEST(pool_core_of, POOL_84_try_acquire_or_create_tells_why_creating_is_suspended) {
    virtual_time time;
    ledger l;
    {
        auto p = make_pool(l, suspending(time, 1));
        l.fail_next = 1;
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::failed);
        auto kept_back = p.try_acquire_or_create();
        EXPECT_EQ(kept_back.status(), wait_status::failed) << "POOL-35: the last error, at once";
        EXPECT_THROW(static_cast<void>(std::move(kept_back).value()), roost::pool_error);
        EXPECT_EQ(p.try_acquire().status(), wait_status::empty) << "it would not create";
        time.skip(10s);
        auto got = p.try_acquire_or_create();
        EXPECT_TRUE(got);
        EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::empty) << "there is no room";
    }
    time.run();
}

TEST(pool_core_of, POOL_5_awaitable_destroy_frees_the_place_when_it_ends) {
    event gone;
    ledger l;
    pool<thing> p(one_stripe(1), factory(l), [&](thing&) { return gone.wait(); });
    client a(p);
    client b(p);
    a.discard();
    EXPECT_FALSE(b.done());
    EXPECT_EQ(p.stats().busy, 1U);
    gone.set();
    EXPECT_TRUE(b.done() && b.got());
}

TEST(pool_core_of, POOL_4_try_acquire_or_create_begins_a_creation_for_a_later_acquire) {
    slow::state s;
    pool<thing> p(one_stripe(1), [&] { return slow(s); });
    EXPECT_EQ(p.try_acquire_or_create().status(), wait_status::empty);
    s.go.set();
    EXPECT_TRUE(p.try_acquire_or_create());
}

}  // namespace
