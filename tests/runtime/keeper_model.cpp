#include <roost/runtime/detail/keeper.hpp>
#include <roost/runtime/detail/pulse.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;

MODEL(keeper, RUN_74_stop_or_sleep) {
    detail::keeper k({.name = "keeper"});
    k.start();
    k.stop();
}

// The first body after a sleep against the watcher that dozes off: one of them sees the other.
MODEL(keeper, RUN_73_doze_or_start) {
    if (!has_heavy_barrier()) {
        return;
    }
    detail::pulse p;
    atomic<bool> dozing{false};
    bool rung = false;
    thread worker([&] {
        p.begin_body();
        light_barrier();
        rung = dozing.load(mo::relaxed);
    });
    dozing.store(true, mo::seq_cst);
    heavy_barrier();
    const bool seen = detail::pulse::is_in_body(p.read());
    worker.join();
    rt::check(rung || seen, "a body that nobody watches");
}

}  // namespace
