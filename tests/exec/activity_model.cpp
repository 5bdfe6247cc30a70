#include <roost/exec/detail/activity.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

// A label whose text is freed as soon as the scope has ended.
struct label : detail::activity_label {
    label() : detail::activity_label("job", site()) {}
    plain<int> text{1};
};

MODEL(activity, RUN_51_pinned_text) {
    if (!has_heavy_barrier()) {
        return;
    }
    atomic<detail::activity*> mine{nullptr};
    thread worker([&] {
        mine.store(&detail::activity::of_this_thread(), mo::release);
        auto* l = new label;
        { const detail::running_as scope(*l); }
        l->text.set(2);
        delete l;
        while (mine.load(mo::acquire) != nullptr) {
            yield_thread();
        }
    });
    detail::activity* seen = mine.load(mo::acquire);
    if (seen != nullptr) {
        seen->look([](const detail::activity_label& l) {
            rt::check(static_cast<const label&>(l).text.get() == 1, "the label lives while somebody looks at it");
        });
    }
    while (mine.load(mo::acquire) == nullptr) {
        yield_thread();
    }
    mine.store(nullptr, mo::release);
    worker.join();
}

// Back in the outer scope after an inner one.
MODEL(activity, RUN_51_outer_text) {
    if (!has_heavy_barrier()) {
        return;
    }
    atomic<detail::activity*> mine{nullptr};
    thread worker([&] {
        mine.store(&detail::activity::of_this_thread(), mo::release);
        label outer;
        label inner;
        outer.text.set(1);
        const detail::running_as scope(outer);
        { const detail::running_as deeper(inner); }
        while (mine.load(mo::acquire) != nullptr) {
            yield_thread();
        }
    });
    detail::activity* seen = nullptr;
    while (seen == nullptr) {
        seen = mine.load(mo::acquire);
        if (seen == nullptr) {
            yield_thread();
        }
    }
    seen->look([](const detail::activity_label& l) {
        rt::check(static_cast<const label&>(l).text.get() == 1, "the label is seen as it was made");
    });
    mine.store(nullptr, mo::release);
    worker.join();
}

}  // namespace
