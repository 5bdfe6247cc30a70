// The sequencer's own hand-over: what was done before a step is visible behind the later ones, and to observers.

#include <roost/testing/explore_gtest.hpp>
#include <roost/testing/sequencer.hpp>

namespace {

using roost::testing::check;
using roost::testing::sequencer;

// RUN-90: two threads take turns; each sees what the other did before its step.
MODEL(sequencer_model, turns) {
    sequencer order(roost::duration::max());  // else a timeout would be one of the choices
    roost::seam::plain<int> ball{0};
    roost::seam::thread other([&] {
        order.reach(2);
        check(ball.get() == 1, "RUN-90: the first step came first");
        ball.set(2);
        order.reach(3);
    });
    ball.set(1);
    order.reach(1);
    order.reach(4);
    check(ball.get() == 2, "RUN-90: the third step came before the fourth");
    other.join();
}

// RUN-90: a thread that only calls reached() sees what was done before the steps it counts.
MODEL(sequencer_model, observer) {
    sequencer order(roost::duration::max());  // else a timeout would be one of the choices
    roost::seam::plain<int> written{0};
    roost::seam::thread writer([&] {
        written.set(5);
        order.reach(1);
    });
    if (order.reached() == 1) {
        check(written.get() == 5, "RUN-90: what was done before the step is visible");
    }
    writer.join();
}

}  // namespace
