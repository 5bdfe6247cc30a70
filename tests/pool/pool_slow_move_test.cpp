// A resource whose move takes longer than the limit of what is done with it.

#include <roost/sync/event.hpp>
#include <roost/task/driven.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <functional>
#include <set>
#include <utility>

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::event;
using roost::pool;
using roost::pool_options;
using roost::testing::virtual_time;

// Where resources lie, and what happens while the next one is moved.
struct places {
    std::set<const void*> taken;
    bool is_overwritten = false;
    std::function<void()> meanwhile;
};

class slow {
public:
    explicit slow(places& in) : in_(&in) { arrive(); }
    slow(slow&& from) : in_(from.in_) {
        arrive();
        if (auto run = std::exchange(in_->meanwhile, nullptr)) {
            run();
        }
    }
    slow& operator=(slow&&) = delete;
    ~slow() { in_->taken.erase(this); }

private:
    void arrive() { in_->is_overwritten |= !in_->taken.insert(this).second; }
    places* in_;
};

roost::ext::inline_executor at_once;

pool_options limited(virtual_time& time) {
    pool_options o = one_stripe(1);
    o.where = at_once;
    o.timers = &time;
    o.exact_clock = true;
    o.check_timeout = 5s;
    o.destroy_timeout = 5s;
    o.on_error = [](const roost::pool_error&) {};
    return o;
}

roost::task<> part(event& go) { co_await go.wait(); }
roost::task<bool> ask(event& go) {
    co_await go.wait();
    co_return true;
}

TEST(pool_slow_move, POOL_112_a_slot_is_not_used_again_while_a_resource_is_moved_out_to_be_destroyed) {
    virtual_time time;
    event go;
    places all;
    {
        pool<slow> p(limited(time), [&] { return slow(all); }, [&](slow&) { return part(go); });
        auto first = p.acquire_blocking();
        all.meanwhile = [&] {
            time.advance(10s);
            EXPECT_FALSE(p.try_acquire_or_create()) << "its place is not free yet";
        };
        first.handle().discard();
        EXPECT_FALSE(all.meanwhile);
        EXPECT_FALSE(all.is_overwritten);
        time.advance(5s);
        EXPECT_EQ(p.stats().abandoned, 1U);
        EXPECT_TRUE(p.try_acquire_or_create()) << "now it is";
        go.set();
        time.run();
        EXPECT_TRUE(p.close_blocking(roost::now()));
    }
    EXPECT_TRUE(all.taken.empty());
}

TEST(pool_slow_move, POOL_112_a_slot_is_not_used_again_while_a_resource_is_moved_out_to_be_checked) {
    virtual_time time;
    event go;
    places all;
    {
        pool<slow> p(limited(time), [&] { return slow(all); }, [](slow&) {}, [&](slow&) { return ask(go); });
        static_cast<void>(p.acquire_blocking());
        all.meanwhile = [&] {
            time.advance(10s);
            EXPECT_FALSE(p.try_acquire_or_create()) << "its place is not free yet";
        };
        EXPECT_FALSE(p.try_acquire()) << "it is checked first";
        EXPECT_FALSE(all.meanwhile);
        EXPECT_FALSE(all.is_overwritten);
        time.advance(5s);
        EXPECT_EQ(p.stats().abandoned, 1U);
        EXPECT_TRUE(p.try_acquire_or_create()) << "now it is";
        go.set();
        time.run();
        EXPECT_TRUE(p.close_blocking(roost::now()));
    }
    EXPECT_TRUE(all.taken.empty());
}

}  // namespace
