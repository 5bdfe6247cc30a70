// Every interleaving of awaitable creations and checks with what happens to those who wait for them.

#include "model_support.hpp"

#include <roost/sync/event.hpp>

#include <stdexcept>

namespace {

using namespace pool_modelling;
using roost::event;

// Ends when the event is set: with a resource, an error, or as a check that says yes or no.
template <class Result>
class later {
public:
    later(event& go, Result result, bool fails = false) noexcept : wait_(go.wait()), result_(result), fails_(fails) {}
    later(later&&) noexcept = default;
    bool await_ready() noexcept { return wait_.await_ready(); }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    Result await_resume() {
        wait_.await_resume();
        if (fails_) {
            throw std::runtime_error("refused");
        }
        return result_;
    }

private:
    decltype(std::declval<event&>().wait()) wait_;
    Result result_;
    bool fails_;
};

MODEL(pool_create_model, creation_vs_cancel) {
    plain<int> uses{0};
    plain<int> behind{0};
    event go;
    pool<shared> p(small(1), [&] { return later<shared>(go, shared{&uses}); });
    client first(p);
    use(p, behind);
    thread ends([&] { go.set(); });
    const bool cancelled = first.cancel();
    ends.join();
    check(first.served() != cancelled, "POOL-32: cancelled or served");
    check(behind.get() == 1, "POOL-32: what was made serves the next");
    expect_all_back(p, "POOL-32: and is kept");
    check(p.stats().created == 1, "POOL-32: one creation was enough");
}

MODEL(pool_create_model, failing_creation_vs_cancel) {
    plain<int> uses{0};
    plain<int> behind{0};
    roost::seam::atomic<int> calls{0};
    event go;
    pool<shared> p(small(1), [&] {
        const bool fails = calls.fetch_add(1, roost::seam::mo::relaxed) == 0;
        return later<shared>(go, shared{fails ? nullptr : &uses}, fails);
    });
    client first(p);
    use(p, behind);
    thread ends([&] { go.set(); });
    const bool cancelled = first.cancel();
    ends.join();
    check(first.served() != cancelled, "POOL-32: cancelled, or told that it failed");
    check(behind.get() == 1, "POOL-21: the right to create goes to the next");
    expect_all_back(p, "POOL-15");
    check(p.stats().create_failures == 1, "POOL-21");
}

// The limit passes while the creation ends: the waiter gets one of the two, and nothing that was made is lost.
MODEL(pool_create_model, create_timeout_vs_completion) {
    plain<int> uses{0};
    roost::seam::atomic<int> destroyed{0};
    model_timers timers;
    hand_executor where;
    event go;
    pool_options o = timed(1, where, timers);
    o.create_timeout = roost::duration(5);
    {
        pool<shared> p(
            o, [&] { return later<shared>(go, shared{&uses}); },
            [&](shared&) { destroyed.fetch_add(1, roost::seam::mo::relaxed); });
        client first(p);
        where.run();
        thread limit([&] {
            timers.fire_all();
            where.run();
        });
        go.set();
        where.run();
        limit.join();
        where.run();
        check(first.served(), "POOL-33: the waiter has the resource or the error");
        const roost::pool_stats s = p.stats();
        check(s.idle + static_cast<std::uint32_t>(destroyed.load(roost::seam::mo::relaxed)) == 1,
              "POOL-33: in time it is kept, too late it is destroyed");
        check(s.abandoned == static_cast<std::uint32_t>(destroyed.load(roost::seam::mo::relaxed)),
              "POOL-33: one of the two");
        check(s.out == 0 && s.busy == 0 && s.idle + s.free == 1, "POOL-15");
    }
    where.run();
}

// What a creation uses may go when close() has returned, although its limit has passed before it ended.
MODEL(pool_create_model, late_creation_vs_close) {
    plain<int> uses{0};
    plain<int> destroyed{0};
    model_timers timers;
    hand_executor where;
    event go;
    pool_options o = timed(1, where, timers);
    o.create_timeout = roost::duration(5);
    o.on_error = [](const roost::pool_error&) {};
    {
        pool<shared> p(
            o, [&] { return later<shared>(go, shared{&uses}); },
            [&](shared& s) {
                s.uses->set(1);
                destroyed.set(1);
            });
        client first(p);
        timers.fire_all();
        where.run();
        check(first.served() && p.stats().late == 1, "POOL-33: it is past its limit");
        thread ends([&] {
            go.set();
            where.run();
        });
        check(p.close_blocking(), "POOL-110: closed");
        check(uses.get() == 1 && destroyed.get() == 1, "POOL-110: what came late has been destroyed");
        ends.join();
        check(p.stats().late == 0, "POOL-110: nothing runs");
    }
    where.run();
}

MODEL(pool_create_model, check_vs_cancel) {
    plain<int> uses{0};
    plain<int> behind{0};
    event go;
    const bool is_fine = roost::testing::choose(2) == 0;
    pool<shared> p(
        small(1), [&] { return shared{&uses}; }, [](shared&) {}, [&](shared&) { return later<bool>(go, is_fine); });
    { auto warm = p.try_acquire_or_create(); }
    client first(p);
    use(p, behind);
    thread ends([&] { go.set(); });
    const bool cancelled = first.cancel();
    ends.join();
    check(first.served() != cancelled, "POOL-30: cancelled or served");
    check(behind.get() == 1, "POOL-30: the check went on for the next, or left its place to it");
    const roost::pool_stats s = p.stats();
    check(s.out == 0 && s.busy == 0 && s.waiting == 0 && s.idle == 1, "POOL-15");
}

}  // namespace
