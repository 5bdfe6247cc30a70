#include <roost/runtime/detail/doze.hpp>
#include <roost/runtime/detail/pulse.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

// The first body after a sleep against the watcher that dozes off: one of them sees the other.
MODEL(doze, RUN_73_doze_or_start) {
    if (!detail::doze::sleeps_safely()) {
        return;
    }
    detail::pulse p;
    detail::doze watcher;
    bool rung = false;
    thread worker([&] {
        p.begin_body();
        rung = watcher.is_on();
    });
    watcher.fall();
    const bool seen = detail::pulse::is_in_body(p.read());
    worker.join();
    rt::check(rung || seen, "a body that is not watched");
    rt::check(watcher.wake() && !watcher.is_on(), "it was dozing, and is no longer");
}

// A watcher that looks again without having slept.
MODEL_COMPLETE(doze, RUN_73_a_watcher_that_did_not_doze_says_so) {
    detail::doze watcher;
    rt::check(!watcher.is_on() && !watcher.wake() && !watcher.is_on(), "it was awake, and still is");
}

}  // namespace
