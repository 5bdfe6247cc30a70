#include <roost/runtime/detail/blocking_phase.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

// The interrupter works on what the function set up, and is over before the result is delivered.
MODEL(blocking_phase, RUN_43_interrupt_or_end) {
    detail::blocking_phase phase;
    plain<int> resource{0};
    plain<int> interrupts{0};
    thread lane([&] {
        resource.set(1);
        phase.begin();
        phase.end();
        resource.set(2);
        rt::check(interrupts.get() <= 1, "the interrupter is over");
    });
    if (phase.begin_interrupt()) {
        rt::check(resource.get() == 1, "only while the function runs");
        interrupts.set(interrupts.get() + 1);
        phase.end_interrupt();
    }
    rt::check(!phase.begin_interrupt(), "once at most");
    lane.join();
    phase.require_over();
}

// The canceller comes while the thread has taken the function and has not begun: it sleeps, and does not spin, until it has.
MODEL(blocking_phase, RUN_43_interrupt_before_begin) {
    detail::blocking_phase phase;
    plain<int> resource{0};
    thread canceller([&] {
        if (phase.begin_interrupt()) {
            rt::check(resource.get() == 1, "only while the function runs");
            phase.end_interrupt();
        }
    });
    resource.set(1);
    phase.begin();
    phase.end();
    resource.set(2);
    canceller.join();
    phase.require_over();
}

}  // namespace
