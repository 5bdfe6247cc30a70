// A child that has passed `started` on ends while another job calls it.
#include <roost/task/launch_started.hpp>

#include "model_rig.hpp"

#include <memory>

namespace {

using namespace roost;
using namespace roost::seam;
using roost::testing::check;

// TASK-173: one of the two counts, and the caller sees the whole of it.
MODEL(launch_started_model, ready_vs_end) {
    auto at = std::make_shared<detail::start_meeting<int>>("child", site());
    thread other([ready = started<int>(at)]() mutable { ready(1); });
    { const detail::start_duty<int> ends(at); }
    at->settled.wait_blocking();
    const bool was_ready = at->ended.has_value();
    other.join();
    check(at->ended.has_value() == was_ready, "TASK-173: what the caller was told stays");
}

}  // namespace
