// An abandoned await and whoever waited for it.

#include <roost/shutdown/abandon.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

// SHUT-70: whichever lets go last frees what they share.
MODEL(abandon_model, either_last) {
    auto* state = new roost::detail::abandoned_state<int>;
    roost::thread worker([state] {
        state->value.emplace(7);
        state->done.set();
        state->drop();
    });
    if (state->done.is_set()) {
        roost::testing::check(state->value == 7, "SHUT-70: the value is there when it is done");
    }
    state->drop();
    worker.join();
}

}  // namespace
