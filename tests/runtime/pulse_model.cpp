#include <roost/runtime/detail/pulse.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

namespace {

using namespace roost;
using namespace roost::seam;

// RUN-151: the worker takes its activity back before that is gone, while a watcher looks.
MODEL(pulse, RUN_151_label_taken_back) {
    detail::pulse p;
    thread worker([&] {
        auto mine = std::make_unique<detail::activity>();
        p.set_label(mine.get());
        p.set_label(nullptr);
    });
    static_cast<void>(p.look([](const detail::activity_label&) noexcept {}));
    worker.join();
}

}  // namespace
