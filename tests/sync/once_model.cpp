// Done once; a failed turn goes to a waiter (SYNC-111 .. SYNC-114).

#include <roost/sync/once.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "coroutines.hpp"
#include "held_operation.hpp"

namespace {

using roost::once;
using roost::seam::plain;
using roost::seam::thread;
using roost::testing::check;
using sync_testing::fire;
using sync_testing::held_operation;

MODEL_COMPLETE(once_model, publish) {
    once o;
    plain<int> data{0};
    thread other([&] { o.call_blocking([&] { data.set(data.get() + 1); }); });
    if (o.is_done()) {
        check(data.get() == 1, "SYNC-111: the initialiser's writes are visible");
    }
    o.call_blocking([&] { data.set(data.get() + 1); });
    check(data.get() == 1, "SYNC-111: done once");
    other.join();
}

fire attempt(once& o, bool succeeds, plain<int>& tries) {
    auto turn = co_await o.enter();
    if (turn.is_mine()) {
        tries.set(tries.get() + 1);
        if (succeeds) {
            turn.done();
        }
    }
}

// A turn that fails while another one comes: it tries, too, and has seen what the failed one wrote.
MODEL_COMPLETE(once_model, failed_turn) {
    once o;
    plain<int> tries{0};
    thread other([&] { attempt(o, true, tries); });
    attempt(o, false, tries);
    other.join();
    check(o.is_done() ? tries.get() >= 1 : tries.get() == 0, "SYNC-112: the second one is never stranded");
    check(o.is_done() && o.waiters_now() == 0, "SYNC-112");
}

MODEL_COMPLETE(once_model, failed_turn_through_try_enter) {
    once o;
    plain<int> tries{0};
    const auto visit = [&] {
        if (auto turn = o.try_enter(); turn.is_mine()) {
            tries.set(tries.get() + 1);
        }
    };
    thread other(visit);
    visit();
    other.join();
    check(tries.get() >= 1 && !o.is_done(), "SYNC-112");
}

// One comes through the queue, the other through try_enter: one of them has the turn.
MODEL_COMPLETE(once_model, two_doors) {
    once o;
    plain<int> tries{0};
    thread other([&] { attempt(o, true, tries); });
    if (auto turn = o.try_enter(); turn.is_mine()) {
        tries.set(tries.get() + 1);
        turn.done();
    }
    other.join();
    check(tries.get() == 1 && o.is_done(), "SYNC-111");
}

MODEL_COMPLETE(once_model, failure_vs_cancel) {
    once o;
    plain<int> resumed{0};
    auto mine = o.try_enter();
    held_operation heir(o.enter(), resumed);
    thread failing([&] { mine = once::turn(); });
    const bool cancelled = heir.operation().try_cancel();
    failing.join();
    check(resumed.get() == (cancelled ? 0 : 1), "");
    check(o.try_enter().is_mine(), "SYNC-113: the turn is neither lost nor doubled");
}

}  // namespace
