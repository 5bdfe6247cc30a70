// The end of a pool: close() ends when nothing of the pool calls the user's functions any more, late attempts included.

#include <roost/sync/event.hpp>
#include <roost/task/driven.hpp>
#include <roost/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include "support.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace pool_testing;
using namespace std::chrono_literals;
using roost::event;
using roost::pool;
using roost::pool_options;
using roost::testing::virtual_time;

pool_options timed(virtual_time& time) {
    pool_options o = one_stripe(1);
    o.where = time;
    o.timers = &time;
    o.exact_clock = true;
    o.on_error = [](const roost::pool_error&) {};
    return o;
}

// Ends when the event is set, and then uses what the test owns.
template <class Result>
class later {
public:
    later(event& go, bool& used, Result result, bool fails = false)
        : wait_(go.wait()), used_(&used), result_(result), fails_(fails) {}
    bool await_ready() noexcept { return wait_.await_ready(); }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    Result await_resume() {
        wait_.await_resume();
        *used_ = true;
        if (fails_) {
            throw std::runtime_error("refused");
        }
        return result_;
    }

private:
    decltype(std::declval<event&>().wait()) wait_;
    bool* used_;
    Result result_;
    bool fails_;
};

roost::ext::inline_executor at_once;

// Waits for the end of a pool, and runs in the middle of what tells it: `seen` is asked at that moment.
template <class R, class Seen>
hosted closer(roost::executor&, pool<R>& p, Seen& seen, std::string& at_the_end) {
    co_await p.close();
    at_the_end = seen() ? "over" : "too early";
}

TEST(pool_late, POOL_110_close_waits_for_a_creation_past_its_limit) {
    virtual_time time;
    event go;
    bool used = false;
    int destroyed = 0;
    pool_options o = timed(time);
    o.create_timeout = 5s;
    pool<thing> p(o, [&] { return later<thing>(go, used, thing(1)); }, [&](thing&) { ++destroyed; });
    client a(p);
    time.advance(5s);
    ASSERT_TRUE(a.done());
    EXPECT_EQ(p.stats().late, 1U);
    EXPECT_EQ(p.stats().free, 1U) << "its place can be used";
    EXPECT_FALSE(p.close_blocking(roost::now())) << "it runs";
    std::string end;
    auto seen = [&] { return used && destroyed == 1; };
    const hosted waits = closer(at_once, p, seen, end);
    EXPECT_EQ(end, "");
    go.set();
    time.run();
    EXPECT_EQ(end, "over");
    EXPECT_EQ(p.stats().late, 0U);
    EXPECT_TRUE(p.close_blocking(roost::now()));
}

TEST(pool_late, POOL_110_close_waits_for_a_check_past_its_limit_and_what_it_kept) {
    virtual_time time;
    event go;
    bool used = false;
    ledger l;
    pool_options o = timed(time);
    o.check_timeout = 5s;
    pool<thing> p(o, factory(l), undertaker(l), [&](thing&) { return later<bool>(go, used, true); });
    static_cast<void>(p.acquire_blocking());
    client a(p);
    time.advance(5s);
    ASSERT_TRUE(a.done() && a.got());
    a.let_go();
    std::string end;
    auto seen = [&] { return used && l.alive() == 0; };
    const hosted waits = closer(at_once, p, seen, end);
    time.run();
    EXPECT_EQ(end, "");
    go.set();
    time.run();
    EXPECT_EQ(end, "over");
}

TEST(pool_late, POOL_110_close_waits_for_a_destruction_past_its_limit) {
    virtual_time time;
    event go;
    bool used = false;
    ledger l;
    pool_options o = timed(time);
    o.destroy_timeout = 5s;
    pool<thing> p(o, factory(l), [&](thing&) { return later<int>(go, used, 0, true); });
    client a(p);
    a.discard();
    time.advance(5s);
    EXPECT_EQ(p.stats().free, 1U);
    std::string end;
    auto seen = [&] { return used; };
    const hosted waits = closer(at_once, p, seen, end);
    time.run();
    EXPECT_EQ(end, "");
    go.set();
    time.run();
    EXPECT_EQ(end, "over");
}

// Counts its objects, moved-from ones included.
class counted {
public:
    explicit counted(int& alive) noexcept : alive_(&alive) { ++*alive_; }
    counted(const counted& other) noexcept : alive_(other.alive_) { ++*alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive_; }

private:
    int* alive_;
};

TEST(pool_late, POOL_110_the_destructors_of_resources_have_run_when_close_ends) {
    event go;
    event gone;
    int alive = 0;
    bool used = false;
    pool<counted> p(
        one_stripe(1), [&] { return later<counted>(go, used, counted(alive)); },
        [&](counted&) { return later<int>(gone, used, 0); }, [](counted&) { return true; });
    go.set();
    { auto got = p.acquire_blocking(); }
    std::string end;
    auto seen = [&] { return alive == 0; };
    const hosted waits = closer(at_once, p, seen, end);
    EXPECT_EQ(end, "");
    gone.set();
    EXPECT_EQ(end, "over");
}

TEST(pool_late, POOL_110_no_shell_of_a_resource_outlives_the_close_that_a_creation_ends) {
    event go;
    int alive = 0;
    bool used = false;
    pool<counted> p(one_stripe(1), [&] { return later<counted>(go, used, counted(alive)); });
    static_cast<void>(p.try_acquire_or_create());
    std::string end;
    auto seen = [&] { return alive == 0; };
    const hosted waits = closer(at_once, p, seen, end);
    EXPECT_EQ(end, "");
    go.set();
    EXPECT_EQ(end, "over");
}

TEST(pool_late, POOL_110_on_error_has_returned_when_close_ends) {
    event go;
    bool used = false;
    bool told = false;
    pool_options o = one_stripe(1);
    o.on_error = [&](const roost::pool_error&) { told = true; };
    pool<thing> p(o, [&] { return later<thing>(go, used, thing(1), true); });
    static_cast<void>(p.try_acquire_or_create());
    std::string end;
    auto seen = [&] { return told; };
    const hosted waits = closer(at_once, p, seen, end);
    go.set();
    EXPECT_EQ(end, "over");
}

TEST(pool_late, POOL_110_on_leak_has_returned_when_close_ends) {
    virtual_time time;
    ledger l;
    std::string end;
    bool returned = false;
    auto seen = [&] { return returned; };
    client* holder = nullptr;
    pool_options o = timed(time);
    o.leak_after = 5s;
    o.where = at_once;
    o.on_leak = [&](const roost::observe::pool_holder&) {
        holder->let_go();  // the last one: it is destroyed at once
        EXPECT_EQ(l.alive(), 0);
        EXPECT_EQ(end, "");
        returned = true;
    };
    auto p = make_pool(l, o);
    client a(p);
    holder = &a;
    const hosted waits = closer(at_once, p, seen, end);
    time.advance(10s);
    EXPECT_EQ(end, "over");
}

// What each function does with a peer that never answers.
struct silent_peer {
    event never;
    int begun = 0;
    int left = 0;

    class visit {
    public:
        explicit visit(silent_peer& p) noexcept : peer_(&p) { ++peer_->begun; }
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        ~visit() { ++peer_->left; }

    private:
        silent_peer* peer_;
    };
};

roost::task<thing> connect(silent_peer& peer) {
    const silent_peer::visit here(peer);
    co_await peer.never.wait();
    co_return thing(1);
}
roost::task<bool> ask(silent_peer& peer) {
    const silent_peer::visit here(peer);
    co_await peer.never.wait();
    co_return true;
}
roost::task<> part(silent_peer& peer) {
    const silent_peer::visit here(peer);
    co_await peer.never.wait();
}

TEST(pool_late, POOL_111_a_task_that_creates_is_cancelled_at_its_limit) {
    virtual_time time;
    silent_peer peer;
    int reports = 0;
    pool_options o = timed(time);
    o.create_timeout = 5s;
    o.on_error = [&](const roost::pool_error&) { ++reports; };
    pool<thing> p(o, [&] { return connect(peer); });
    client a(p);
    time.advance(4s);
    EXPECT_EQ(peer.begun, 1);
    EXPECT_EQ(peer.left, 0);
    time.advance(1s);
    ASSERT_TRUE(a.done());
    EXPECT_EQ(peer.left, 1);
    EXPECT_EQ(p.stats().late, 0U);
    EXPECT_EQ(reports, 1);
    EXPECT_TRUE(p.close_blocking(roost::now()));
}

TEST(pool_late, POOL_111_tasks_that_check_and_destroy_are_cancelled_at_their_limits) {
    virtual_time time;
    silent_peer doctor;
    silent_peer undertaker;
    ledger l;
    int reports = 0;
    pool_options o = timed(time);
    o.check_timeout = 5s;
    o.destroy_timeout = 5s;
    o.on_error = [&](const roost::pool_error&) { ++reports; };
    pool<thing> p(o, factory(l), [&](thing&) { return part(undertaker); }, [&](thing&) { return ask(doctor); });
    static_cast<void>(p.acquire_blocking());
    client a(p);
    time.advance(5s);
    EXPECT_EQ(doctor.left, 1);
    ASSERT_TRUE(a.done() && a.got());
    a.discard();
    time.run_ready();
    EXPECT_EQ(undertaker.begun, 2) << "what the check kept, and what was discarded";
    EXPECT_EQ(p.stats().late, 1U) << "what the check kept";
    EXPECT_EQ(undertaker.left, 0);
    time.advance(5s);
    EXPECT_EQ(undertaker.left, 2) << "what is in no slot has the same limit";
    EXPECT_EQ(reports, 3);
    EXPECT_EQ(p.stats().free, 1U);
    EXPECT_EQ(p.stats().late, 0U);
    EXPECT_TRUE(p.close_blocking(roost::now()));
}

}  // namespace
