// Every interleaving of upkeep with take and put.

#include "model_support.hpp"

namespace {

using namespace pool_modelling;

// A loan that begins while upkeep looks for leaks: it must not be taken for as old as the loan before it.
MODEL(pool_time_model, leaks_vs_take) {
    plain<int> uses{0};
    plain<int> told{0};
    model_timers timers;
    hand_executor where;
    pool_options o = timed(1, where, timers);
    o.leak_after = roost::duration(10);
    o.on_leak = [&](const roost::observe::pool_holder&) { told.set(told.get() + 1); };
    {
        pool<shared> p(o, [&] { return shared{&uses}; });
        { auto long_ago = p.try_acquire_or_create(); }
        timers.set_now(1000);
        thread upkeep([&] {
            timers.fire_all();
            where.run();
        });
        { auto now = p.try_acquire(); }
        upkeep.join();
        check(told.get() == 0, "POOL-86: nobody held it for long");
    }
    where.run();
}

// The same for a thread that calls holders().
MODEL(pool_time_model, holders_vs_take) {
    plain<int> uses{0};
    model_timers timers;
    hand_executor where;
    pool_options o = timed(1, where, timers);
    o.leak_after = roost::duration(1'000'000);
    {
        pool<shared> p(o, [&] { return shared{&uses}; });
        { auto long_ago = p.try_acquire_or_create(); }
        timers.set_now(1000);
        thread user([&] { auto now = p.try_acquire(); });
        for (const roost::observe::pool_holder& h : p.holders()) {
            check(h.age() == roost::duration(0), "POOL-86: it has just been taken");
        }
        user.join();
    }
    where.run();
}

fire hold(pool<shared>& p, std::optional<acquired<shared>>& got) { got.emplace(co_await p.acquire()); }

// Upkeep decides that a resource is stale; before it commits, that one is replaced and returned, so the word is the same. What
// upkeep then has in its hands is not stale, and a waiter is queued for it.
MODEL(pool_time_model, evict_vs_replaced_counted) {
    plain<int> uses{0};
    auto root = model_node::make_root(model_node::probe::quiet);
    model_timers timers;
    hand_executor where;
    pool_options o = timed(1, where, timers);
    o.parent = *root;
    o.idle_ttl = roost::duration(10);
    {
        pool<shared> p(o, [&] { return shared{&uses}; });
        { auto long_ago = p.try_acquire_or_create(); }
        timers.set_now(1000);
        timers.fire_all();
        std::optional<acquired<shared>> got;
        thread user([&] {
            static_cast<void>(p.try_acquire());  // stale: goes
            where.run();
            { auto replaced = p.try_acquire_or_create(); }
            hold(p, got);
        });
        where.run_one();  // upkeep
        user.join();
        where.run();
        check(got && *got, "POOL-24: whoever waits is served");
        check(root->has_work(), "POOL-40: out, and the parent does not know");
        got.reset();
        where.run();
        check(!root->has_work(), "POOL-40: everything is back");
    }
    where.run();
}

}  // namespace
