// A guard that comes while a queued waiter is being claimed by the drop of the last one.

#include <roost/shutdown/shutdown.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "../sync/coroutines.hpp"

namespace {

using roost::guard;
using roost::shutdown;
using roost::testing::check;
using sync_testing::owned;

// What a waiter may see, depending on whether the late guard was there before the first one went.
class scene {
public:
    // By the holder of the first guard, before it is dropped.
    void first_goes() { overlapped_.store(late_made_.load(roost::seam::mo::acquire), roost::seam::mo::relaxed); }
    // By the holder of the late guard, after it was made and before it is dropped.
    void late_came() { late_made_.store(true, roost::seam::mo::release); }
    void late_goes() { late_dropped_.store(true, roost::seam::mo::release); }
    // By the waiter.
    void resolved() {
        check(!overlapped_.load(roost::seam::mo::relaxed) || late_dropped_.load(roost::seam::mo::acquire),
              "SHUT-83: a guard that came before the last one went delays a waiter that is queued");
        resolutions_.fetch_add(1, roost::seam::mo::relaxed);
    }
    [[nodiscard]] int resolutions() const { return resolutions_.load(roost::seam::mo::relaxed); }

private:
    roost::seam::atomic<bool> late_made_{false};
    roost::seam::atomic<bool> late_dropped_{false};
    roost::seam::atomic<bool> overlapped_{false};
    roost::seam::atomic<int> resolutions_{0};
};

owned wait_for_it(roost::shutdown_completion done, scene& seen) {
    co_await std::move(done);
    seen.resolved();
}

void late_guard(const shutdown& at, scene& seen) {
    guard late = at.guard();
    seen.late_came();
    seen.late_goes();
    late.reset();
}

// SHUT-83: the waiter is in the list, the first guard goes, a late one comes and goes. The waiter is resumed exactly once, by
// the thread that found no work left.
MODEL(late_guard_model, SHUT_83_claim_of_a_queued_waiter) {
    const shutdown s;
    scene seen;
    guard first = s.guard();
    {
        const owned waiting = wait_for_it(s.shut_down(), seen);
        check(!waiting.done(), "SHUT-25: it waits for the guard");
        roost::seam::thread dropper([&] {
            seen.first_goes();
            first.reset();
        });
        late_guard(s, seen);
        dropper.join();
        check(seen.resolutions() == 1, "SHUT-83: resumed exactly once");
    }
}

// The same across a level: the guards are a child's, the waiter is the root's.
MODEL(late_guard_model, claim_above) {
    const shutdown s;
    const shutdown c = s.child();
    scene seen;
    guard first = c.guard();
    {
        const owned waiting = wait_for_it(s.shut_down(), seen);
        check(!waiting.done(), "SHUT-25: it waits for the guard");
        roost::seam::thread dropper([&] {
            seen.first_goes();
            first.reset();
        });
        late_guard(c, seen);
        dropper.join();
        check(seen.resolutions() == 1, "SHUT-83: resumed exactly once");
    }
}

// And with a second waiter who queues up meanwhile: in the list in time, or it finds nothing left.
MODEL(late_guard_model, claim_and_second_waiter) {
    const shutdown s;
    scene seen;
    guard first = s.guard();
    {
        const owned waiting = wait_for_it(s.shut_down(), seen);
        roost::seam::thread dropper([&] { first.reset(); });
        guard late = s.guard();
        roost::seam::plain<int> late_work{0};
        roost::seam::atomic<int> others{0};
        const owned second = [](roost::shutdown_completion done, roost::seam::plain<int>& work,
                                roost::seam::atomic<int>& count) -> owned {
            co_await std::move(done);
            check(work.get() == 1, "SHUT-29: a completion made after the late guard waits for it");
            count.fetch_add(1, roost::seam::mo::relaxed);
        }(s.completion(), late_work, others);
        late_work.set(1);
        late.reset();
        dropper.join();
        check(seen.resolutions() == 1 && others.load(roost::seam::mo::relaxed) == 1, "SHUT-83: each resumed exactly once");
    }
}

}  // namespace
