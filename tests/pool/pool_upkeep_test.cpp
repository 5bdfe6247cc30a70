// Time: idle TTL, lifetime, warmth, leaks, deadlines (virtual time).

#include <roost/base/failure_sink.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <set>
#include <stdexcept>
#include <string>

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::pool;
using roost::pool_options;
using roost::wait_status;
using roost::testing::virtual_time;

pool_options timed(virtual_time& time, std::uint32_t capacity) {
    pool_options o = one_stripe(capacity);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    return o;
}

TEST(pool_upkeep, POOL_24_idle_ttl_is_strict) {
    virtual_time time;
    ledger l;
    pool_options o = timed(time, 1);
    o.idle_ttl = 10s;
    {
        auto p = make_pool(l, o);
        { client a(p); }
        time.skip(10s);
        { client b(p); }
        EXPECT_EQ(l.made, 1) << "not longer than the limit";
        time.skip(10s + 1ns);
        { client c(p); }
        time.run_ready();
        { client d(p); }
        EXPECT_EQ(l.made, 2) << "longer than the limit";
        EXPECT_GE(p.stats().expired, 1U);
    }
    time.run();
    EXPECT_EQ(l.alive(), 0);
}

TEST(pool_upkeep, POOL_24_one_timer_cleans_an_unused_pool) {
    virtual_time time;
    ledger l;
    pool_options o = timed(time, 3);
    o.idle_ttl = 10s;
    {
        auto p = make_pool(l, o);
        {
            client a(p);
            client b(p);
        }
        time.advance(9s);
        EXPECT_EQ(l.alive(), 2);
        time.advance(6s);
        EXPECT_EQ(l.alive(), 0);
        EXPECT_EQ(p.stats().free, 3U);
        EXPECT_EQ(time.armed_timers(), 1U);
    }
    time.run();
    EXPECT_EQ(time.armed_timers(), 0U);
}

TEST(pool_upkeep, POOL_36_max_lifetime_with_jitter_drawn_once) {
    virtual_time time;
    ledger l;
    pool_options o = timed(time, 8);
    o.max_lifetime = 100s;
    o.lifetime_jitter = 0.5;
    {
        auto p = make_pool(l, o);
        {
            std::vector<std::unique_ptr<client>> all;
            for (int i = 0; i < 8; ++i) {
                all.push_back(std::make_unique<client>(p));
            }
        }
        std::set<std::int64_t> ends;
        for (unsigned i = 0; i < 8; ++i) {
            ends.insert(core_of(p).stripes().at(0).slots[i]->expires.load(roost::seam::mo::relaxed) -
                        time.now().time_since_epoch().count());
        }
        EXPECT_GT(ends.size(), 4U) << "not all at once";
        EXPECT_GE(*ends.begin(), (50s).count() * 1'000'000'000);
        EXPECT_LE(*ends.rbegin(), (100s).count() * 1'000'000'000);
        time.advance(40s);
        EXPECT_EQ(l.alive(), 8);
        time.advance(100s);
        EXPECT_EQ(l.alive(), 0);
    }
    time.run();
}

TEST(pool_upkeep, POOL_36_a_resource_past_its_lifetime_is_destroyed_when_it_comes_back) {
    virtual_time time;
    ledger l;
    pool_options o = timed(time, 1);
    o.max_lifetime = 10s;
    {
        auto p = make_pool(l, o);
        client a(p);
        client b(p);
        time.skip(11s);
        a.let_go();
        time.run_ready();
        ASSERT_TRUE(b.done());
        EXPECT_EQ(b.got()->id, 2);
    }
    time.run();
    EXPECT_EQ(l.alive(), 0);
}

TEST(pool_upkeep, POOL_37_warm_minimum_is_made_at_once_and_kept) {
    virtual_time time;
    ledger l;
    pool_options o = timed(time, 4);
    o.warm = 2;
    o.idle_ttl = 10s;
    {
        auto p = make_pool(l, o);
        EXPECT_EQ(l.made, 2);
        time.advance(60s);
        EXPECT_GT(l.made, 2);
        EXPECT_EQ(p.stats().idle, 2U) << "what went was replaced";
    }
    time.run();
    EXPECT_EQ(l.alive(), 0);
}

TEST(pool_upkeep, POOL_38_a_leak_is_reported_once_with_holder_and_age) {
    virtual_time time;
    ledger l;
    std::vector<std::string> leaks;
    pool_options o = timed(time, 2);
    o.leak_after = 30s;
    o.on_leak = [&](const roost::observe::pool_holder& h) { leaks.push_back(h.to_string()); };
    {
        auto p = make_pool(l, o);
        client forgets(p);
        time.advance(300s);
        ASSERT_EQ(leaks.size(), 1U);
        EXPECT_NE(leaks[0].find("support.hpp:"), std::string::npos) << leaks[0];
        EXPECT_NE(leaks[0].find(" s)"), std::string::npos) << leaks[0];
        EXPECT_EQ(p.stats().leaks, 1U);
        EXPECT_GE(p.holders().at(0).age(), roost::duration(299s));
        forgets.let_go();
    }
    time.run();
}

TEST(pool_upkeep, POOL_90_what_the_hooks_throw_is_told_and_changes_nothing) {
    static std::string told;
    told.clear();
    const auto before =
        roost::set_failure_sink(+[](std::string_view what, std::string_view name, roost::site, std::exception_ptr) noexcept {
            told += std::string(what) + " " + std::string(name);
        });
    virtual_time time;
    ledger l;
    int errors = 0;
    pool_options o = timed(time, 2);
    const std::string name = o.name;
    o.leak_after = 30s;
    o.on_leak = [](const roost::observe::pool_holder&) { throw std::runtime_error("on_leak"); };
    o.on_error = [&](const roost::pool_error&) {
        ++errors;
        throw std::runtime_error("on_error");
    };
    {
        auto p = make_pool(l, o);
        client forgets(p);
        time.advance(300s);
        EXPECT_EQ(errors, 1);
        EXPECT_EQ(told, "on_error of pool " + name);
        EXPECT_EQ(p.stats().leaks, 1U);
        forgets.let_go();
        client another(p);
        EXPECT_TRUE(another.done());
    }
    time.run();
    roost::set_failure_sink(before);
}

// That the two are read together, whenever upkeep looks: pool_time_model.
TEST(pool_upkeep, POOL_86_a_loan_does_not_inherit_the_age_of_the_one_before) {
    virtual_time time;
    ledger l;
    int leaks = 0;
    pool_options o = timed(time, 1);
    o.leak_after = 30s;
    o.on_leak = [&](const roost::observe::pool_holder&) { ++leaks; };
    {
        auto p = make_pool(l, o);
        { client first(p); }
        time.advance(300s);
        EXPECT_EQ(leaks, 0) << "nobody has it";
        client second(p);
        EXPECT_EQ(p.holders().at(0).age(), roost::duration(0));
        time.advance(29s);
        EXPECT_EQ(leaks, 0);
        time.advance(10s);
        EXPECT_EQ(leaks, 1);
        second.let_go();
    }
    time.run();
}

TEST(pool_upkeep, POOL_30_check_only_after_the_idle_threshold) {
    virtual_time time;
    ledger l;
    int checks = 0;
    pool_options o = timed(time, 1);
    o.check_after = 5s;
    {
        pool<thing> p(o, factory(l), undertaker(l), [&](thing&) {
            ++checks;
            return true;
        });
        { client a(p); }
        { client b(p); }
        time.skip(5s);
        { client c(p); }
        EXPECT_EQ(checks, 0);
        time.skip(5s + 1ns);
        { client d(p); }
        EXPECT_EQ(checks, 1);
    }
    time.run();
}

TEST(pool_upkeep, POOL_19_acquire_with_a_deadline) {
    virtual_time time;
    ledger l;
    std::optional<wait_status> status;
    auto body = [](roost::executor&, pool<thing>& p, roost::time_point until, std::optional<wait_status>& out) -> hosted {
        auto got = co_await roost::with_deadline(p.acquire(), until);
        out = got.status();
    };
    {
        auto p = make_pool(l, timed(time, 1));
        client holder(p);
        hosted waits = body(time, p, time.now() + 3s, status);
        time.advance(3s);
        EXPECT_EQ(status, wait_status::expired);
        EXPECT_EQ(p.stats().waiting, 0U);
    }
    time.run();
}

TEST(pool_upkeep, POOL_42_close_with_a_deadline) {
    virtual_time time;
    ledger l;
    auto body = [](roost::executor&, pool<thing>& p, roost::time_point until, std::optional<bool>& out) -> hosted {
        auto drained = co_await p.close(until);
        out = drained.has_value();
    };
    {
        auto p = make_pool(l, timed(time, 2));
        client holder(p);
        std::optional<bool> first;
        std::optional<bool> second;
        hosted gives_up = body(time, p, time.now() + 3s, first);
        time.advance(3s);
        EXPECT_EQ(first, false);
        EXPECT_EQ(p.holders().size(), 1U) << "who is in the way";
        hosted waits = body(time, p, time.now() + 30s, second);
        holder.let_go();
        time.run_ready();
        EXPECT_EQ(second, true);
        EXPECT_EQ(l.alive(), 0);
    }
    time.run();
}

// Timers that are closed between two looks of upkeep, as those of a runtime that ends before the pool.
class closing_timers final : public roost::ext::timer_service {
public:
    roost::time_point now() noexcept override { return roost::time_point(); }
    bool arm(roost::ext::timer& t) noexcept override {
        armed = closed ? nullptr : &t;
        return !closed;
    }
    bool disarm(roost::ext::timer& t) noexcept override {
        const bool was_armed = armed == &t;
        armed = was_armed ? nullptr : armed;
        return was_armed;
    }
    void fire() { std::exchange(armed, nullptr)->fire(); }

    roost::ext::timer* armed = nullptr;
    bool closed = false;
};

TEST(pool_upkeep, POOL_89_timers_that_close_do_not_keep_the_pool) {
    virtual_time where;
    closing_timers timers;
    const auto kept_by_the_pool = std::make_shared<int>(1);
    pool_options o = one_stripe(1);
    o.where = where;
    o.timers = &timers;
    o.idle_ttl = 10s;
    {
        pool<int> p(o, [kept_by_the_pool] { return *kept_by_the_pool; });
        ASSERT_NE(timers.armed, nullptr);
        timers.closed = true;
        timers.fire();
        where.run();
        EXPECT_EQ(timers.armed, nullptr);
        EXPECT_GT(kept_by_the_pool.use_count(), 1);
    }
    EXPECT_EQ(kept_by_the_pool.use_count(), 1) << "the pool is gone";
}

}  // namespace
