// The destruction of a resource that came late is cancelled at its limit.

#include <roost/sync/event.hpp>
#include <roost/task/driven.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::event;
using roost::pool;
using roost::pool_options;
using roost::testing::virtual_time;

pool_options limited(virtual_time& time, int& reports) {
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.create_timeout = 5s;
    o.destroy_timeout = 5s;
    o.on_error = [&reports](const roost::pool_error&) { ++reports; };
    return o;
}

class ready_when_set {
public:
    explicit ready_when_set(event& go) : wait_(go.wait()) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    thing await_resume() {
        wait_.await_resume();
        return thing(1);
    }

private:
    decltype(std::declval<event&>().wait()) wait_;
};

roost::task<> part(event& go, int& begun) {
    ++begun;
    co_await go.wait();
}

TEST(drop_limit, POOL_111_a_late_resource_whose_destruction_hangs_does_not_keep_close_from_ending) {
    virtual_time time;
    event created;
    event never;
    int begun = 0;
    int reports = 0;
    pool<thing> p(
        limited(time, reports), [&] { return ready_when_set(created); }, [&](thing&) { return part(never, begun); });
    client a(p);
    time.advance(5s);
    ASSERT_TRUE(a.done());
    created.set();
    time.run_ready();
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(p.stats().late, 1U) << "close() waits for it";
    EXPECT_FALSE(p.close_blocking(roost::now()));
    time.advance(5s);
    EXPECT_EQ(p.stats().late, 0U);
    EXPECT_EQ(reports, 2) << "the creation's limit and the destruction's";
    EXPECT_TRUE(p.close_blocking(roost::now()));
}

TEST(drop_limit, POOL_111_a_late_resource_that_is_destroyed_in_time_leaves_no_timer) {
    virtual_time time;
    event created;
    event go;
    int begun = 0;
    int reports = 0;
    pool<thing> p(limited(time, reports), [&] { return ready_when_set(created); }, [&](thing&) { return part(go, begun); });
    client a(p);
    time.advance(5s);
    created.set();
    time.advance(4s);
    go.set();
    time.run_ready();
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(reports, 1) << "the creation's limit";
    EXPECT_TRUE(p.close_blocking(roost::now()));
}

}  // namespace
