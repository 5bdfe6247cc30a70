#include <roost/runtime/detail/pulse.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;

// Stands for the activity of a thread: made by the worker, read by the watcher.
struct made : activity {
    plain<int> state{0};
};

MODEL(pulse, RUN_70_label_visible) {
    detail::pulse p;
    made mine;
    thread worker([&] {
        mine.state.set(1);
        p.set_label(&mine);
    });
    if (activity* seen = p.label()) {
        rt::check(static_cast<made*>(seen)->state.get() == 1, "the activity is seen as it was made");
    }
    worker.join();
}

}  // namespace
