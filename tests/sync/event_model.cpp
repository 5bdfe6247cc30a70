// Every interleaving of set, reset, wait, cancel and destruction (SYNC-40 .. SYNC-45).

#include <roost/sync/event.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"
#include "two_writers.hpp"

namespace {

using roost::event;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;
using sync_testing::two_writers;

fire wait_and_read(event& e, plain<int>& data, plain<int>& seen) {
    co_await e.wait();
    seen.set(data.get());
}

MODEL_COMPLETE(event_model, publish) {
    event e;
    plain<int> data{0};
    thread setter([&] {
        data.set(42);
        e.set();
    });
    if (e.is_set()) {
        check(data.get() == 42, "SYNC-40: the setter's writes are visible");
    }
    setter.join();
}

MODEL_COMPLETE(event_model, late_wait) {
    event e;
    plain<int> data{0};
    plain<int> seen{0};
    thread setter([&] {
        data.set(42);
        e.set();
    });
    wait_and_read(e, data, seen);
    setter.join();
    check(seen.get() == 42, "SYNC-40: woken or let through, it has seen the writes");
    check(e.waiters_now() == 0, "");
}

// One setter meets a waiter; a later thread that only checks must see the writes as well.
MODEL_COMPLETE(event_model, late_pass) {
    event e;
    plain<int> data{0};
    plain<int> resumed{0};
    held_operation waiting(e.wait(), resumed);
    thread setter([&] {
        data.set(42);
        e.set();
    });
    if (e.is_set()) {
        check(data.get() == 42, "SYNC-40");
    }
    setter.join();
    check(resumed.get() == 1, "");
}

// Two setters, then a reset: the reset has both setters' writes if both came before it.
MODEL_COMPLETE(event_model, reset) {
    event e;
    two_writers writers;
    thread a([&] { writers.write_first(e); });
    thread b([&] { writers.write_second(e); });
    const bool both = writers.have_both_signalled();
    if (e.reset() && both) {
        check(writers.are_both_seen(), "SYNC-41: a reset takes over what every set published");
    }
    a.join();
    b.join();
}

// The last waiter leaves between a setter's look and its lock, and another setter is faster: both have published.
MODEL_COMPLETE(event_model, two_setters_and_a_cancel) {
    event e;
    plain<int> resumed{0};
    two_writers writers;
    held_operation waiting(e.wait(), resumed);
    thread a([&] { writers.write_first(e); });
    thread b([&] {
        static_cast<void>(waiting.operation().try_cancel());
        writers.write_second(e);
    });
    const bool both = writers.have_both_signalled();
    if (e.reset() && both) {
        check(writers.are_both_seen(), "SYNC-41: a reset takes over what every set published");
    }
    a.join();
    b.join();
}

MODEL_COMPLETE(event_model, set_vs_cancel) {
    event e;
    plain<int> first{0};
    plain<int> second{0};
    held_operation one(e.wait(), first);
    held_operation two(e.wait(), second);
    thread setter([&] { e.set(); });
    const bool cancelled = one.operation().try_cancel();
    setter.join();
    check(first.get() == (cancelled ? 0 : 1) && second.get() == 1, "SYNC-43: cancelled or woken");
    check(e.is_set() && e.waiters_now() == 0, "");
}

// The waiter that sees it set destroys it, while set() is still returning.
MODEL_COMPLETE(event_model, destroy_after_set) {
    auto* e = new (roost::seam::allocate(sizeof(event))) event;
    plain<int> resumed{0};
    {
        held_operation waiting(e->wait(), resumed);
        thread setter([e] { e->set(); });
        const bool cancelled = waiting.operation().try_cancel();
        while (!e->is_set()) {
            roost::seam::yield_thread();
        }
        if (cancelled) {  // no waiter is left, so the thread that checks may destroy it
            e->~event();
            roost::seam::deallocate(e, sizeof(event));
            setter.join();
            return;
        }
        setter.join();
    }
    e->~event();
    roost::seam::deallocate(e, sizeof(event));
}

MODEL_COMPLETE(event_model, thread_deadline_vs_set) {
    event e;
    thread setter([&] { e.set(); });
    if (!e.wait_blocking(roost::now() + roost::duration(1))) {
        check(e.waiters_now() == 0, "SYNC-44: whoever gave up is not queued any more");
    }
    setter.join();
    check(e.is_set() && e.waiters_now() == 0, "");
}

}  // namespace
