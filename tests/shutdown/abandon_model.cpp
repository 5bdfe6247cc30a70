// An abandoned await and its waiter.

#include <roost/shutdown/abandon.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

// SHUT-70: whichever lets go last frees what they share.
MODEL(abandon_model, either_last) {
    struct counted {
        explicit counted(roost::seam::plain<int>& to) : ends(&to) {}
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;
        ~counted() { ends->set(ends->get() + 1); }
        roost::seam::plain<int>* ends;
    };
    roost::seam::plain<int> ends{0};
    auto* state = new roost::detail::abandoned_state<counted>;
    roost::seam::thread worker([state, &ends] {
        state->value.emplace(ends);
        state->done.set();
        state->drop();
    });
    if (state->done.is_set()) {
        roost::testing::check(state->value.has_value(), "SHUT-70: the value is there when it is done");
    }
    state->drop();
    worker.join();
    roost::testing::check(ends.get() == 1, "SHUT-70: and it is freed once");
}

}  // namespace
