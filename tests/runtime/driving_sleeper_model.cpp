// A sleeper of an idle_set that is in the driver.

#include <roost/runtime/detail/idle_set.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "fake_driver.hpp"

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using detail::idle_set;

// IO-81: a worker that sleeps in the driver is woken through it.
void drive_or_post(bool asymmetric, bool strict) {
    idle_set idle(asymmetric);
    idle_set::sleeper me;
    test_support::fake_driver in;
    atomic<int> queue{0};
    thread worker([&] {
        idle.announce(me, false);
        if (queue.load(mo::relaxed) != 0) {
            idle.withdraw(me);
        } else {
            idle.drive(me, in);
        }
    });
    queue.fetch_add(1, mo::relaxed);
    if (strict ? idle.needs_waking_strict() : idle.needs_waking()) {
        idle.wake_one();
    }
    worker.join();
    rt::check(!idle.is_any_parked(), "a worker that has driven is not listed");
}

MODEL_COMPLETE(driving_sleeper, IO_81_drive_or_light_post) {
    if (has_heavy_barrier()) {
        drive_or_post(true, false);
    }
}
MODEL_COMPLETE(driving_sleeper, IO_81_drive_or_post) { drive_or_post(false, true); }

// IO-82: of two sleepers the one outside the driver is woken, and the other one only when it is alone.
MODEL_COMPLETE(driving_sleeper, IO_82_the_driver_is_woken_last) {
    idle_set idle(false);
    idle_set::sleeper outside;
    idle_set::sleeper inside;
    test_support::fake_driver in;
    static_cast<void>(idle.announce(outside, false));
    static_cast<void>(idle.announce(inside, false));
    thread driving([&] {
        idle.drive(inside, in);
        idle.end_search();
    });
    while (!in.is_parked()) {
        yield_thread();
    }
    rt::check(idle.wake_one(), "two are asleep");
    rt::check(idle.sleep(outside, time_point::min()), "the one outside the driver was chosen");
    idle.end_search();
    rt::check(idle.wake_one(), "one is asleep");
    driving.join();
}

}  // namespace
